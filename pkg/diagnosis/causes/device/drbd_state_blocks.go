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
		state, help := primary, "With nothing that holds it there, drbdadm secondary of this resource on that node lets it go (DRBD refuses while anything has it open); the mount goes on by itself."
		switch {
		case primary.Yes():
			p.Says, p.With["peer"], p.Subject = "primary", peer, diagnosis.DeviceSubject(peer, r.Dev)
			p.Last = []evidence.Answer{r.Quiet(pl, peer), second}
			p.At(peer)
		case r.Split().Yes():
			p.Says, state, help = "split", r.Split(), "Decide with the owner of the data which side survives. Only then, with a snapshot of the volume below it made first, the other side's writes since the split can be given up."
		case r.NoQuorum().Yes():
			p.Says, state, help = "quorum", r.NoQuorum(), "Bring the missing peers or the network between them back: DRBD's own ports (7000 and up), and the NetworkPolicy of the satellites. Do not lower or switch off the quorum, and do not force a role."
		case copyless.Yes():
			p.Says, state, p.Last, help = "copy", copyless, []evidence.Answer{wanted}, "Bring the node with the copy that is up to date back, or its connection. Do not force a role: that declares an old copy to be the data."
		case r.Writes(pl.X).Yes():
			p.Says, state, help = "writes", r.Writes(pl.X), "Let all pods of the volume on this node go, so that it is unmounted, and start them again: opening the device takes the role anew. Find out who took it away (an administrator, a reactor)."
			p.Last, fails = []evidence.Answer{r.Secondary()}, state
		case suspended.Yes():
			p.Says, state, p.With["why"] = "suspended", suspended, why
			help = "Bring back what it waits for: for fencing the handler fence-peer must end with success, so look at its log and at the cluster manager that it calls; for no-disk a copy that is up to date; for user whoever suspended it resumes it. Resume fencing by hand (drbdadm resume-io) only when the peer is known to be off: else both sides may write."
		default:
			if _, peers := drbd.LostPeers(pl, r); r.InUse(pl).Yes() {
				return []*diagnosis.Proof{diagnosis.Rest(peers)}
			}
			return diagnosis.Open(pl, probes.KernelLog)
		}
		if used := r.InUse(pl); p.Says == "split" && fails.No() && used.Yes() { // it works, without its copy
			p.Says, p.Severity, p.Breaks, fails = "apart", report.Degraded, []diagnosis.Step{diagnosis.Replicating}, used
		}
		p.State = []evidence.Answer{state, fails}
		if tainted.Yes() {
			p.Hint = tainted
		}
		p.Device(pl.Node, r.Dev)
		p.Steps = drbdSteps(pl, r.Name, help)
		return []*diagnosis.Proof{p}
	},
}

func drbdSteps(pl *evidence.Place, resource, help string) []remedy.Step {
	return []remedy.Step{
		remedy.Check("See role, disk, connections and quorum of the resource, on both sides.",
			remedy.OnSatellite(pl.X, pl.Node, "drbdsetup", "status", resource, "--verbose"), remedy.Kubectl("linstor", "resource", "list", "-r", resource)),
		remedy.Words(help + " No filesystem check and no formatting of the volume below: what cannot be opened here says nothing about its content."),
	}
}

// drbdRefuses is a device that DRBD does not open, where nothing was seen of the peers.
func drbdRefuses(pl *evidence.Place, r drbd.Resource, refused, sure evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.VolumeSubject(pl.Volume), Says: "refused", State: []evidence.Answer{refused}, Last: []evidence.Answer{sure},
		With:  words.Fields{"node": pl.Node, "resource": cmp.Or(r.Name, pl.Volume.CSIHandle()), "volume": pl.Volume.PVName()},
		Steps: drbdSteps(pl, cmp.Or(r.Name, pl.Volume.CSIHandle()), "A Primary elsewhere lets go when nothing holds the device there; a lost quorum, or a copy that is up to date, comes back with the peers. Do not force a role."),
	}
	if !r.Dev.IsZero() {
		p.Subject = diagnosis.DeviceSubject(pl.Node, r.Dev)
		p.Device(pl.Node, r.Dev)
	}
	p.At(pl.Node)
	return p
}
