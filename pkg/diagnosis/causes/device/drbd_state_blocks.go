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
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, r.Dev),
			With:    words.Fields{"node": pl.Node, "resource": r.Name, "device": r.Dev.String(), "minor": strconv.FormatUint(uint64(r.Dev.Minor), 10), "peer": "", "volume": pl.Volume.PVName()},
		}
		fails, tainted := r.Fails(pl), drbd.Tainted(pl)
		why, suspended := r.Suspended(pl.X)
		if fails.No() {
			fails = suspended // whoever reads or writes it waits
		}
		peer, primary, second := r.PrimaryAt(pl)
		copyless, wanted := r.NoGoodCopy(pl.X)
		state := primary
		switch {
		case primary.Yes():
			p.Says, p.With["peer"], p.Subject = "primary", peer, diagnosis.DeviceSubject(peer, r.Dev)
			p.Last = []evidence.Answer{r.Quiet(pl, peer), second}
			p.At(peer)
		case r.Split().Yes():
			p.Says, state = "split", r.Split()
		case r.NoQuorum().Yes():
			p.Says, state = "quorum", r.NoQuorum()
		case copyless.Yes():
			p.Says, state, p.Last = "copy", copyless, []evidence.Answer{wanted}
		case r.Writes(pl.X).Yes():
			state = r.Writes(pl.X)
			p.Says, p.Last, fails = "writes", []evidence.Answer{r.Secondary()}, state
		case suspended.Yes():
			p.Says, state, p.With["why"] = "suspended", suspended, why
		default:
			if _, peers := drbd.LostPeers(pl, r); r.InUse(pl).Yes() {
				return []*diagnosis.Proof{diagnosis.Rest(peers)}
			}
			return diagnosis.Open(pl, probes.KernelLog)
		}
		p.Steps = remedy.DRBDBack(pl.X, pl.Node, r.Name, p.Says)
		if used := r.InUse(pl); p.Says == "split" && fails.No() && used.Yes() { // it works, without its copy
			p.Says, p.Severity, p.Breaks, fails = "apart", report.Degraded, []diagnosis.Step{diagnosis.Replicating}, used
		}
		p.State = []evidence.Answer{state, fails}
		if tainted.Yes() {
			p.Hint = tainted
		}
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
