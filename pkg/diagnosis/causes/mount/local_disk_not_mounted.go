package mount

import (
	"maps"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/local"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// LocalDiskNotMounted finds a directory of a volume that should be a disk and is none.
var LocalDiskNotMounted = &diagnosis.Rule{
	Name: "local-disk-not-mounted", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using},
	LeadsTo:  []string{"filesystem-full"},
	YieldsTo: []string{"kubelet-in-container", "local-pool-inactive"},
	Offers:   []string{"delete-pod"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		path := local.PathOf(pl.Volume)
		if path == "" || !local.Belongs(pl) {
			return nil
		}
		if pl.View == nil {
			return diagnosis.Open(pl)
		}
		var out []*diagnosis.Proof
		fields := words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "path": path, "entry": "", "disk": "", "pod": ""}
		subject := diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName())
		for _, l := range local.LateOf(pl, path) {
			fields["path"], fields["disk"], fields["pod"] = l.Disk.Point, l.Name+" ("+l.Disk.Dev.String()+")", l.Pod.Namespace+"/"+l.Pod.Name
			p := &diagnosis.Proof{Subject: subject, Says: "late", With: maps.Clone(fields), State: []evidence.Answer{l.Is}}
			p.Pod(l.Pod)
			p.Steps = []remedy.Step{
				remedy.Check("See where the path lies now.", remedy.OnNode(pl.Node, "findmnt", "-T", path)),
				remedy.Words("Stop the workload, and save what it wrote into the bare directory below the disk since node " + pl.Node + " started. Then start it again: only a new pod sees the disk."),
				remedy.DeletePod(l.Pod).Note("First save what it wrote into the bare directory: that does not come along to the disk."),
			}
			out = append(out, p)
		}
		if d := local.DiskOf(pl, path); d.Meant.Yes() {
			fields["entry"] = d.Entry
			ceiling := report.Certain
			if d.Fits {
				ceiling = report.Likely
			}
			out = append(out, &diagnosis.Proof{
				Subject: subject, Says: "absent", With: fields, AtMost: ceiling, State: []evidence.Answer{d.Meant, d.Absent(pl)},
				LookAlikes: []diagnosis.LookAlike{{Cause: "a disk that is mounted elsewhere for the volume", Is: d.There(pl)}},
				Steps: []remedy.Step{
					remedy.Check("See where the path lies now, and whether the disk is there.", remedy.OnNode(pl.Node, "findmnt", "-T", path), remedy.OnNode(pl.Node, "blkid")),
					remedy.Words("Stop the pods of the volume first, and save what was written into the bare directory since the node started. Then mount the disk by its entry, and start the pods again. So that it does not come back: nofail in the entry, RequiresMountsFor with this path in the unit of kubelet, and chattr +i on the bare directory. Do not format anything."),
				},
			})
		}
		return out
	},
}
