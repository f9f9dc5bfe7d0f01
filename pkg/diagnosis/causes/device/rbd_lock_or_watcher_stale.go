package device

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// RBDLockOrWatcherStale finds an RBD image that a dead owner's lock or watcher keeps.
var RBDLockOrWatcherStale = &diagnosis.Rule{
	Name: "rbd-lock-or-watcher-stale", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	YieldsTo: []string{"device-mapped-on-other-node", "mount-pinned-in-namespace", "mount-lazily-detached", "volume-mapped-outside-cluster"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		l, ok := ceph.LockOf(pl)
		if !ok {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolume", "", pl.Volume.PVName()), AtMost: l.Ceiling(), Waiting: l.Waiting(),
			With:  words.Fields{"volume": volume.Name(pl.Volume), "why": l.Why(), "seen": "No probed node maps the image."},
			State: []evidence.Answer{l.Is()},
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "device-mapped-on-other-node", Is: l.Mapped()},
				{Cause: "a second attachment", Is: l.Attached()},
				{Cause: "an image without watchers", Is: l.Unwatched()},
			},
			Steps: []remedy.Step{remedy.Words("Ask Ceph who watches the image (rbd status) and compare the address with the nodes. A client may be blocklisted only once you have made sure that its machine is off.")},
		}
		if len(pl.X.NodeViews) == 0 {
			p.With["seen"] = "Whether a node still maps the image was not looked at."
		}
		if l.Denied() {
			p.Steps = []remedy.Step{remedy.Words("Give the Ceph user of the driver the capability to blocklist (mon 'profile rbd', osd 'profile rbd'); the next map then breaks the lock by itself.")}
		}
		return []*diagnosis.Proof{p}
	},
}
