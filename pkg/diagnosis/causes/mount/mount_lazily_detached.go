package mount

import (
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

// MountLazilyDetached finds filesystems that live without any mount line.
var MountLazilyDetached = &diagnosis.Rule{
	Name: "mount-lazily-detached", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Staging, diagnosis.Unmounting, diagnosis.Detaching},
	LeadsTo: []string{"drbd-state-blocks", "device-mapped-on-other-node", "crypt-mapper-stale", "rbd-lock-or-watcher-stale", "iscsi-login-rejected"},
	Offers:  []string{"restart-holder"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		released, why := volume.Released(pl.X, pl.Volume, pl.Node)
		awaited, fails := volume.Awaited(pl.X, pl.Volume, pl.Node), volume.Fails(pl)
		ending := volume.JustReleased(pl.X, pl.Volume, pl.Node)
		if released.No() && !awaited || !awaited && ending && !fails.Yes() {
			return nil // nothing to let go, or an unmount that is under way
		}
		rest := []*diagnosis.Proof{diagnosis.Rest(pl.Tables(probes.Mounts, probes.Block, probes.Superblocks))}
		d, ok := mounts.DetachedOf(pl)
		switch {
		case !ok && pl.View == nil && !fails.Yes():
			return nil
		case !ok, len(d.Holders) == 0 && (ending || volume.Recent(pl.X, pl.Volume)):
			return rest // who keeps it was not found, and time may do
		case awaited:
			why = "a pod on the node waits for the device"
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.DeviceSubject(pl.Node, d.Dev), Says: "detached",
			With:       words.Fields{"disk": mounts.Title(pl.View, d.Dev), "volume": volume.Name(pl.Volume), "node": pl.Node, "why": why, "holders": d.KeptBy()},
			State:      []evidence.Answer{d.Alive(), d.Unlisted(), evidence.Any(evidence.When(awaited), released)},
			Last:       []evidence.Answer{d.Busy(), d.Held(), pl.Tables(probes.Mounts, probes.Block).Nothing()},
			Hint:       d.Alive(),
			LookAlikes: []diagnosis.LookAlike{{Cause: "what lies on the device", Is: d.Covered()}},
		}
		switch listed := d.Listed(); {
		case !listed.Unseen() || len(d.Holders) > 0:
			p.LookAlikes = append(p.LookAlikes, diagnosis.LookAlike{Cause: "mount-pinned-in-namespace", Is: listed})
		default: // the line may be in a table that could not be read
			p.State = append(p.State, evidence.Not(listed))
		}
		if d.Listed().Unseen() {
			p.Says = "perhaps"
		}
		p.Device(pl.Node, d.Dev)
		p.Device(pl.Node, d.Disk.Dev)
		for _, o := range d.Holders {
			who := pl.X.WhoIs(pl.View, o.Process)
			step := remedy.EndHolder(pl.Node, who)
			if pl.X.IsConsumerProcess(pl.Volume, pl.Node, who) {
				step = remedy.Words("Let pod " + pods.Name(who.Pod) + " end first: it uses the claim itself.")
			}
			p.Steps = append(p.Steps, step)
		}
		switch searched := pl.Tables(probes.Processes, probes.Descriptors); {
		case len(d.Holders) > 0:
		case d.Listed().Unseen() || !searched.Complete():
			p.Steps = []remedy.Step{remedy.Words("First read on node " + pl.Node + " what could not be read: who keeps it open may be among those processes.")}
		default:
			p.Steps = []remedy.Step{remedy.Words("Nobody who keeps it open was found. Drain node " + pl.Node + " and reboot it; nothing else ends a detached filesystem without a holder.")}
		}
		return append(rest, p)
	},
}
