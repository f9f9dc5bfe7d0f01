package claim

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DeletionBlockedByFinalizer finds a claim, volume, attachment or pod whose deletion waits
// for the owner of a finalizer.
var DeletionBlockedByFinalizer = &diagnosis.Rule{
	Name: "deletion-blocked-by-finalizer", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Detaching},
	YieldsTo: []string{"claim-kept-by-finished-pod", "volumeattachment-volume-gone", "node-removed", "volumeattachment-detach-loop"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		return evidence.Each(claims.GoingObjects(pl), func(g claims.Going) *diagnosis.Proof { return deletionBlocked(pl, g) })
	},
}

func deletionBlocked(pl *evidence.Place, g claims.Going) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject(g.Kind, g.Namespace, g.Name), Severity: g.Weight(pl),
		With:  words.Fields{"object": g.Kind + " " + g.Full(), "finalizer": g.Foreign(), "pods": "", "driver": pl.Volume.CSIName()},
		Steps: remedy.WaitsFor(g.Kind, g.Namespace, g.Name),
	}
	names, used := g.UsedByPods(pl)
	late, tooLate := g.TooLate(pl)
	finalizer, sidecar := g.Sidecar()
	old := g.GoneFor(pl, 5*time.Minute)
	switch {
	case used.Yes() && tooLate.Yes():
		p.Says, p.With["pods"], p.With["late"], p.Breaks = "late", words.List(names, 3), words.List(late, 3), []diagnosis.Step{diagnosis.Provisioning}
		p.State = []evidence.Answer{g.GoneFor(pl, 0), g.Keeps(), used, tooLate}
		p.Steps = append(p.Steps, remedy.TooLateForClaim()...)
	case !used.No():
		p.Says, p.Waiting, p.With["pods"], p.Breaks = "used", true, words.List(names, 3), []diagnosis.Step{diagnosis.Deleting} // who waits for it waits for something else
		p.State = []evidence.Answer{g.GoneFor(pl, 0), g.Keeps(), used}
		p.Steps = append(p.Steps, remedy.GoesWithPods()...)
	case g.BoundClaim(pl).Yes():
		boundVolume(pl, g, p)
	case g.Foreign() != "":
		p.Says = "foreign"
		p.State = []evidence.Answer{old, g.Keeps(), g.Unprotected(pl)}
		p.Steps = append(p.Steps, remedy.FinalizerOwner(g.Foreign())...)
	case sidecar != "":
		p.AtMost, p.With["finalizer"] = report.Likely, finalizer
		p.State = []evidence.Answer{old, g.Keeps(), g.AloneForSidecar(pl)}
		sidecarKeeps(pl, g, p, csi.SidecarOf(pl.X, pl.Volume.CSIName(), sidecar))
	default:
		f, made := g.Source()
		if f == "" {
			return nil
		}
		p.Says, p.AtMost, p.With["finalizer"], p.With["made"] = "source", report.Likely, f, made
		p.State = []evidence.Answer{old, g.Keeps(), g.AloneAsSource(pl)}
		p.Steps = append(p.Steps, remedy.SourceOf(g.Namespace, made)...)
	}
	return p
}

// sidecarKeeps is about a PersistentVolume from which nothing but a sidecar of its driver has to take its finalizer.
func sidecarKeeps(pl *evidence.Place, g claims.Going, p *diagnosis.Proof, s csi.Sidecar) {
	down := s.Down()
	p.With["sidecar"] = s.Name + " of " + s.Where()
	switch {
	case down.Yes():
		p.Says, p.State = "down", append(p.State, down)
		p.Steps = append(p.Steps, remedy.SidecarEnds()...)
	case down.No() && s.Where() != "":
		p.Says, p.State = "idle", append(p.State, s.LastWord(g.Name)) // without its word it may be at work
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "a storage that refuses to delete the volume", Is: pl.Texts.Say(func(t evidence.Text) bool { return t.Fresh && t.Deletes() })}}
		p.Steps = append(p.Steps, remedy.SidecarTriesAgain(s.Pods, s.Name)...)
	default:
		p.Says, p.Last = "gone", append(p.Last, evidence.Not(csi.Installed(pl.X, pl.Volume.CSIName())))
		p.Steps = append(p.Steps, remedy.DriverGone()...)
	}
}

// boundVolume is about a PersistentVolume that is kept by its claim.
func boundVolume(pl *evidence.Place, g claims.Going, p *diagnosis.Proof) {
	p.Says, p.Waiting, p.With["claim"] = "bound", true, pl.Volume.Claim.Namespace+"/"+pl.Volume.Claim.Name
	p.Breaks = []diagnosis.Step{diagnosis.Deleting}
	p.State = []evidence.Answer{g.GoneFor(pl, 0), g.Keeps(), g.BoundClaim(pl)}
	nodes, unattachable := g.Unattachable(pl)
	if !unattachable.Yes() {
		p.Steps = append(p.Steps, remedy.VolumeGoes()...)
		return
	}
	p.Says, p.Waiting, p.With["node"] = "unattachable", false, words.List(nodes, 3)
	p.Breaks, p.State = []diagnosis.Step{diagnosis.Attaching, diagnosis.Deleting}, append(p.State, unattachable)
	p.Steps = append(p.Steps, remedy.VolumeGoesUnattached()...)
}
