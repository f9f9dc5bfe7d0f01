package mount

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// PodDirectoryOrphaned finds mounts at paths of pods that no longer exist.
var PodDirectoryOrphaned = &diagnosis.Rule{
	Name: "pod-directory-orphaned", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo:  []string{"device-mapped-on-other-node"},
	YieldsTo: []string{"mount-of-dead-device", "device-held-by-process", "subpath-bind-stale"},
	Offers:   []string{"delete-orphan-directory"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.View == nil {
			return diagnosis.Open(pl)
		}
		whole := pl.Tables(probes.Mounts, probes.Processes)
		rest := diagnosis.Rest(whole.And(pl.Consumers()))
		mounted, plain := mounts.OrphansOf(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "mounted", Last: []evidence.Answer{evidence.Resources(pl.X, "/pods", "/events").Nothing(), whole.Nothing()},
			With: words.Fields{"node": pl.Node, "mounts": mounts.Titles(pl.View, mounted), "plain": mounts.Directories(pl.View, plain), "also": ""},
		}
		if len(mounted) == 0 {
			list, points, version := mounts.Unfinished(pl, plain)
			if pl.Volume != nil || len(list) == 0 {
				return []*diagnosis.Proof{rest}
			}
			p.Says, p.Severity, p.Breaks, p.State = "unfinished", report.Degraded, []diagnosis.Step{}, []evidence.Answer{mounts.Complains(pl, points, version)}
			p.With["points"], p.With["version"] = strings.Join(points, ", "), version
			p.At(pl.Node)
			p.Steps = []remedy.Step{remedy.Words("Nothing urgent. Upgrade the kubelet of node " + pl.Node + " to 1.22 or later; it removes such directories by itself.")}
			for _, o := range list {
				for _, name := range o.Emptied() {
					p.Steps = append(p.Steps, remedy.DeleteOrphanDirectory(pl.Node, pl.View.KubeletRoot(), o.UID, name))
				}
			}
			return []*diagnosis.Proof{rest, p}
		}
		p.State, p.Last = []evidence.Answer{mounts.Unknown(pl, mounted)}, append(p.Last, mounts.Asked(pl, mounted))
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "a mount in which somebody has a file open", Is: mounts.InUse(pl, mounted)}}
		for _, o := range mounted {
			for _, m := range o.Mounts {
				p.Volume(pl.X.VolumeOfPath(pl.Node, m.Mount.Point))
				p.Device(pl.Node, m.Mount.Dev)
			}
		}
		p.Steps = remedy.OrphansGo(pl.Node)
		weigh(pl, p)
		if mounts.Leaving(pl, mounted) {
			p.Says, p.AtMost, p.Waiting = "leaving", report.Possible, true
			p.Steps = append([]remedy.Step{remedy.Words("Ask again in two minutes: if the mounts are gone then, nothing else is to be done.")}, p.Steps...)
		}
		return []*diagnosis.Proof{rest, p}
	},
}

// weigh says what the mounts do to others: a share that is kept keeps nobody from it, and what is
// mounted on another node as well has two writers.
func weigh(pl *evidence.Place, p *diagnosis.Proof) {
	switch {
	case pl.Volume == nil:
	case volume.Fails(pl).No() && (volume.Also(pl) == "" || !volume.OneNode(pl.X, pl.Volume)):
		p.Severity = report.Degraded
	case volume.Also(pl) != "":
		p.With["also"], p.Steps = volume.Also(pl), append([]remedy.Step{remedy.Words(remedy.OneWriter(pl.Volume))}, p.Steps...)
	}
}
