package mount

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MountPinnedInNamespace finds mounts that the host let go and another mount namespace keeps.
var MountPinnedInNamespace = &diagnosis.Rule{
	Name: "mount-pinned-in-namespace", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo: []string{"drbd-state-blocks", "device-mapped-on-other-node", "crypt-mapper-stale", "rbd-lock-or-watcher-stale", "mount-of-dead-device", "xfs-uuid-duplicate", "iscsi-login-rejected"},
	Offers:  []string{"restart-holder"},
	Asks:    diagnosis.EachPlace | diagnosis.EachPod,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		whole := pl.Tables(probes.Mounts)
		out := []*diagnosis.Proof{diagnosis.Rest(whole)}
		add := func(says string, subject report.Subject, with map[string]string, state ...evidence.Answer) *diagnosis.Proof {
			p := &diagnosis.Proof{Subject: subject, Says: says, With: with, State: state, Last: []evidence.Answer{whole.Nothing()}}
			out = append(out, p)
			return p
		}
		pinned := func(says string, m mounts.Pinned, state ...evidence.Answer) *diagnosis.Proof {
			p := add(says, m.Subject(), m.Words(), append([]evidence.Answer{m.Is()}, state...)...)
			p.Steps = append([]remedy.Step{remedy.EndHolder(pl.Node, m.Who)}, remedy.Sentences(m.Advice()...)...)
			p.Device(pl.Node, m.Mount.Dev)
			p.Pod(m.Who.Pod)
			return p
		}
		if pl.Pod != nil && !mounts.Lingers(pl.X, pl.Pod) {
			return nil
		} else if pl.Pod != nil {
			for _, r := range mounts.StrayRootsOf(pl) {
				p := pinned(r.Says, r.Pinned)
				p.With["pod"], p.Last, p.AtMost = pods.Name(pl.Pod), append(p.Last, r.Said()), r.Ceiling()
			}
			return out
		}
		released, why := volume.Released(pl.X, pl.Volume, pl.Node)
		awaited, fails := volume.Awaited(pl.X, pl.Volume, pl.Node), volume.Fails(pl)
		if awaited { // then it is a failure that says that somebody else has the device
			released, why = fails, "a pod on the node waits for the device"
		}
		if released.No() || pl.View == nil && !fails.Yes() {
			return nil
		}
		if s, ok := mounts.SuspectOf(pl); ok && !awaited && (pl.View == nil || pl.View.Init == nil) {
			p := add("perhaps", diagnosis.PodSubject(s.Pod), s.Words(pl), s.Is(), mounts.Kept(pl), released)
			p.AtMost, p.Steps = report.Possible, []remedy.Step{remedy.Words("Probe node " + pl.Node + " before anything is restarted: only its mount tables tell who has the device. If process and mount of pod " + pods.Name(s.Pod) + " are confirmed there, restarting that pod is enough; the driver then succeeds by itself.")}
			p.Pod(s.Pod)
		}
		for _, m := range mounts.PinnedOf(pl) {
			p := pinned("pinned", m, released)
			p.Last = append(p.Last, m.Parted(), pods.Placed(pl.X, m.Who))
		}
		if d, ok := mounts.DetachedOf(pl); ok && len(out) == 1 && d.Listed().Unseen() && !d.Busy().No() {
			p := add("unread", diagnosis.DeviceSubject(pl.Node, d.Dev), map[string]string{"node": pl.Node, "disk": mounts.Title(pl.View, d.Dev)}, d.Alive())
			p.AtMost, p.Steps = report.Possible, []remedy.Step{remedy.Words("Read the mount tables of the remaining namespaces of node " + pl.Node + " first; who holds the device decides what has to be restarted.")}
			p.Device(pl.Node, d.Dev)
		}
		d, _ := pl.X.DeviceOn(pl.Volume, pl.Node)
		for _, p := range out[1:] {
			p.With["volume"], p.With["why"] = volume.Name(pl.Volume), why
			p.Device(pl.Node, d.Dev)
		}
		return out
	},
}
