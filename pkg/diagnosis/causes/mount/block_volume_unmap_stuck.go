package mount

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// BlockVolumeUnmapStuck finds the kubelet's loop devices and binds of pods whose
// containers are gone.
var BlockVolumeUnmapStuck = &diagnosis.Rule{
	Name: "block-volume-unmap-stuck", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo:  []string{"device-mapped-on-other-node"},
	YieldsTo: []string{"lvm-claims-device", "md-claims-device"},
	Offers:   []string{"unmap-device"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		released, _ := volume.Released(pl.X, pl.Volume, pl.Node)
		if !pl.Volume.Block() || pl.Volume.PVName() == "" || pl.View == nil && !(released.Yes() && volume.Fails(pl).Yes()) {
			return nil
		}
		whole := pl.Tables(probes.Block, probes.Processes, probes.Mounts, probes.Superblocks, probes.Descriptors)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		if pl.View == nil {
			return out
		}
		loops, uids := mounts.LoopOf(pl)
		for i, b := range loops {
			p := &diagnosis.Proof{
				Subject: diagnosis.DeviceSubject(pl.Node, b.Dev), Says: "loop",
				With:  words.Fields{"node": pl.Node, "loop": b.Name, "number": b.Dev.String(), "volume": volume.Name(pl.Volume), "whose": "pod " + uids[i] + ", which does not exist any more", "path": ""},
				State: []evidence.Answer{mounts.Bare(pl, b)}, Last: []evidence.Answer{pods.Ended(pl.X, pl.Node, uids[i]), whole.Nothing()},
				Steps: []remedy.Step{
					remedy.UnmapLoop(pl.View, pl.Volume, b, uids[i]).Note("The kubelet then tries again. Never detach a loop whose pod lives."),
					remedy.Words("Upgrade the kubelet of node " + pl.Node + ": older versions do not find a loop device whose backing file was deleted (kubernetes/kubernetes#109132)."),
				},
			}
			if path, deleted := strings.CutSuffix(b.LoopFile, " (deleted)"); deleted {
				p.With["path"] = path
			}
			if pod := pl.X.PodByUID(uids[i]); pod != nil {
				p.With["whose"] = "pod " + pods.Name(pod) + ", whose containers have ended"
				p.Pod(pod)
			}
			p.Device(pl.Node, b.Dev)
			if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok {
				p.Device(pl.Node, d.Dev)
			}
			out = append(out, p)
		}
		if l, ok := mounts.BlockListOf(pl); ok && len(loops) == 0 {
			for _, e := range l.BoundFor() {
				pod := pl.X.PodByUID(e.Path.PodUID)
				p := &diagnosis.Proof{
					Subject: diagnosis.PodSubject(pod), Says: "bind", With: words.Fields{"node": pl.Node, "pod": pods.Name(pod), "volume": volume.Name(pl.Volume), "point": e.Point},
					State: []evidence.Answer{evidence.Yes(evidence.FromMount(pl.Node, pl.View.Init, *e.Mount))}, Last: []evidence.Answer{pods.Ended(pl.X, pl.Node, e.Path.PodUID), whole.Nothing()},
					Steps: []remedy.Step{remedy.Words("Restart the kubelet of node " + pl.Node + " and wait two minutes. If the bind remains, unmount exactly " + e.Point + " plainly; that no process of the pod is left was checked.")},
				}
				p.Pod(pod)
				out = append(out, p)
			}
		}
		return out
	},
}
