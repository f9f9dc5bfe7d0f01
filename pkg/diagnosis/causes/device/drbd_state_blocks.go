package device

import (
	"cmp"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/drbd"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DRBDStateBlocks finds a device that DRBD itself refuses to open or to write.
var DRBDStateBlocks = &diagnosis.Rule{
	Name: "drbd-state-blocks", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Using, diagnosis.Unmounting},
	LeadsTo:  []string{"filesystem-readonly-after-error"},
	YieldsTo: []string{"device-mapped-on-other-node", "mount-pinned-in-namespace", "rwo-rolling-update", "rwo-shared-by-workloads", "kernel-module-missing", "lvm-claims-device", "mount-lazily-detached", "node-down", "node-kubelet-down-workload-alive", "local-pool-inactive"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		r, ok := drbd.ResourceOf(pl)
		refused, sure := r.Refused(pl)
		if drbd.Of(pl.Volume) && refused.Yes() {
			return []*diagnosis.Proof{drbdRefuses(pl, r, refused, sure)}
		} else if !ok && drbd.Of(pl.Volume) {
			return diagnosis.Open(pl, probes.KernelLog)
		} else if !ok {
			return nil
		}
		b, blocked := r.Blocked(pl)
		if !blocked {
			if _, peers := drbd.LostPeers(pl, r); r.InUse(pl).Yes() {
				return []*diagnosis.Proof{diagnosis.Rest(peers)}
			}
			return diagnosis.Open(pl, probes.KernelLog)
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(cmp.Or(b.Peer, pl.Node), r.Dev), Says: b.Kind,
			With:       words.Fields{"node": pl.Node, "resource": r.Name, "device": r.Dev.String(), "minor": strconv.FormatUint(uint64(r.Dev.Minor), 10), "peer": b.Peer, "why": b.Why, "volume": pl.Volume.PVName()},
			State:      []evidence.Answer{b.State, b.Fails},
			Last:       b.Last,
			LookAlikes: []diagnosis.LookAlike{{Cause: "device-held-by-process", Is: b.Held}},
			Steps:      remedy.DRBDBack(pl.X, pl.Node, r.Name, b.Kind),
		}
		if b.Degrades {
			p.Severity, p.Breaks = report.Degraded, []diagnosis.Step{diagnosis.Replicating}
		}
		if tainted := drbd.Tainted(pl); tainted.Yes() {
			p.Hint = tainted
		}
		p.At(b.Peer)
		p.Device(pl.Node, r.Dev)
		return []*diagnosis.Proof{p}
	},
}

// drbdRefuses is a device that DRBD does not open, where nothing was seen of the peers.
func drbdRefuses(pl *evidence.Place, r drbd.Resource, refused, sure evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.VolumeSubject(pl.Volume), Says: "refused", State: []evidence.Answer{refused}, Last: []evidence.Answer{sure},
		With:  words.Fields{"node": pl.Node, "resource": cmp.Or(r.Name, pl.Volume.CSIHandle()), "volume": pl.Volume.PVName()},
		Steps: remedy.DRBDBack(pl.X, pl.Node, cmp.Or(r.Name, pl.Volume.CSIHandle()), "refused"),
	}
	if !r.Dev.IsZero() {
		p.Subject = diagnosis.DeviceSubject(pl.Node, r.Dev)
		p.Device(pl.Node, r.Dev)
	}
	p.At(pl.Node)
	return p
}
