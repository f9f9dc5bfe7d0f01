package mount

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MountOfDeadDevice finds mounts of devices that are gone or were replaced.
var MountOfDeadDevice = &diagnosis.Rule{
	Name: "mount-of-dead-device", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Using, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo: []string{"filesystem-readonly-after-error", "block-volume-unmap-stuck", "xfs-uuid-duplicate", "filesystem-needs-fsck", "subpath-bind-stale"},
	Offers:  []string{"delete-pod", "scale-to-0", "unmount-lazy"},
	Asks:    diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		whole, rest := pl.Tables(probes.Mounts, probes.Block), diagnosis.Rest(pl.Tables(probes.Mounts, probes.Block))
		if pl.Volume == nil {
			return append(deadProofs(pl, "dead", mounts.StraysOf(pl)), rest)
		}
		if pl.View == nil || pl.View.Init == nil {
			var out []*diagnosis.Proof
			for _, s := range mounts.SaidDeadOf(pl) {
				says, ceiling, advice := s.Judge(pl)
				p := &diagnosis.Proof{
					Subject: diagnosis.PodSubject(s.Pod), Says: says, AtMost: ceiling, State: []evidence.Answer{s.Is}, Last: []evidence.Answer{whole.Nothing()},
					With: s.Words(pl), Steps: remedy.Sentences(advice),
				}
				p.Pod(s.Pod)
				out = append(out, p)
			}
			if len(pl.Volume.LiveConsumersOn(pl.Node)) > 0 && volume.Fails(pl).Yes() {
				out = append(out, rest)
			}
			return out
		}
		out := append(deadProofs(pl, "dead", mounts.DeadOf(pl)), rest)
		if released, why := volume.Released(pl.X, pl.Volume, pl.Node); released.Yes() && volume.Fails(pl).Yes() {
			for _, p := range deadProofs(pl, "namesake", mounts.NamesakesOf(pl)) {
				living, counted := mounts.Living(pl)
				p.State, p.Last = append(p.State, living), append(p.Last, counted)
				p.With["volume"], p.With["why"] = volume.Name(pl.Volume), why
				out = append(out, p)
			}
		}
		return out
	},
}

func deadProofs(pl *evidence.Place, says string, list []mounts.DeadMount) (out []*diagnosis.Proof) {
	for _, d := range list {
		p := &diagnosis.Proof{
			Subject: d.Subject(pl.X), Says: says, With: d.Words(pl.X), State: []evidence.Answer{d.Is()}, Steps: remedy.EndDead(pl.X, pl.Node, d),
			Last: []evidence.Answer{d.Sure(pl.X), pl.Tables(probes.Mounts, probes.Block, probes.DeviceNodes, probes.RBDDevices, probes.NVMeDevices).Nothing()},
		}
		if d.Leftover() && !d.Reused && volume.Fails(pl).No() {
			p.Severity = report.Degraded // nobody lives on it or on its number, and nobody waits
		}
		if d.Leftover() || says == "namesake" {
			p.Breaks = []diagnosis.Step{diagnosis.Starting, diagnosis.Unmounting, diagnosis.Detaching}
		}
		p.Volume(d.Volume)
		p.Volume(d.Victim)
		p.Pods(d.Pods(pl.X)...)
		for _, dev := range d.Numbers() {
			p.Device(pl.Node, dev)
		}
		out = append(out, p)
	}
	return out
}
