package mount

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SubpathBindStale finds subPath binds whose target is gone while the volume is
// well.
var SubpathBindStale = &diagnosis.Rule{
	Name: "subpath-bind-stale", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Publishing, diagnosis.Unmounting},
	LeadsTo:  []string{"pod-directory-orphaned"},
	YieldsTo: []string{"mount-of-dead-device", "nfs-handle-stale", "fuse-daemon-dead"},
	Offers:   []string{"delete-pod", "unmount-lazy"},
	Asks:     diagnosis.EachPod,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Node == "" || !mounts.SubPaths(pl.Pod) {
			return nil
		}
		whole := pl.Tables(probes.Mounts)
		with := words.Fields{"pod": pods.Name(pl.Pod), "node": pl.Node}
		if pl.View == nil || pl.View.Init == nil {
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pl.Pod), Says: "said", With: with, Last: []evidence.Answer{whole.Nothing()},
				Steps: []remedy.Step{remedy.Words("Delete pod " + with["pod"] + " once the volume itself is known to be well: a new pod gets new binds, a restarted container does not.")},
			}
			ceiling, said := mounts.SaidStale(pl)
			p.AtMost, p.State = ceiling, []evidence.Answer{said}
			return []*diagnosis.Proof{p}
		}
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		for _, b := range mounts.SubBindsOf(pl) {
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pl.Pod), Says: "runs",
				With:       words.Fields{"pod": with["pod"], "node": pl.Node, "point": b.Mount.Point, "container": b.Path.Container, "volume": b.Path.Volume, "what": "points to " + b.Mount.Root + ", which was deleted"},
				State:      []evidence.Answer{b.Stale()},
				Last:       []evidence.Answer{whole.Nothing()},
				LookAlikes: []diagnosis.LookAlike{{Cause: "a volume that is dead as a whole", Is: b.Wholly()}},
			}
			p.Volume(b.Volume)
			if b.Err != "" {
				p.With["what"] = "answers " + b.Err
			}
			if b.Err != "" || mounts.Remote(b.Mount.FSType) { // a server knows nothing more of what was deleted
				p.Breaks = []diagnosis.Step{diagnosis.Publishing, diagnosis.Using, diagnosis.Unmounting}
			}
			switch {
			case pl.Pod.DeletionTimestamp == nil:
				p.Steps = []remedy.Step{remedy.DeletePod(pl.Pod).Note("The stale bind belongs to the UID of this pod; a new pod gets new binds.")}
			case b.Err != "":
				p.Says, p.Steps = "ends", []remedy.Step{remedy.UnmountLazy(pl.Node, b.Volume, b.VolumeMount, mounts.Remote(b.Mount.FSType))}
			default:
				p.Says, p.Steps = "ends", []remedy.Step{remedy.Words("Unmount exactly " + b.Mount.Point + " plainly on node " + pl.Node + "; that no process of the pod is left was checked. The kubelet finishes with the pod by itself then.")}
			}
			out = append(out, p)
		}
		return out
	},
}
