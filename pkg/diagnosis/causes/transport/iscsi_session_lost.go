package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSISessionLost finds disks whose session, port or controller was not recovered in time.
var ISCSISessionLost = &diagnosis.Rule{
	Name: "iscsi-session-lost", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Unmounting},
	LeadsTo: []string{"mount-of-dead-device", "filesystem-readonly-after-error", "multipath-map-orphaned", "crypt-mapper-stale"},
	Offers:  []string{"delete-pod", "scale-to-0"},
	Asks:    diagnosis.EachPlace,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if unread := iscsi.Unread(pl); unread.Unseen() {
			return []*diagnosis.Proof{{Subject: diagnosis.NodeSubject(pl.Node), Says: "lost", State: []evidence.Answer{unread}}}
		}
		return evidence.Each(iscsi.BrokenWays(pl), func(w iscsi.Way) *diagnosis.Proof { return wayLost(pl, w) })
	},
}

func wayLost(pl *evidence.Place, w iscsi.Way) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.DeviceSubject(pl.Node, w.Dev), Says: "lost", State: []evidence.Answer{w.Is},
		With: words.Fields{"disk": w.Name, "dev": w.Dev.String(), "volume": volume.Name(pl.Volume), "node": pl.Node, "why": w.Why, "link": w.Link, "pods": ""},
	}
	p.Device(pl.Node, w.Dev)
	for _, h := range pl.View.HoldersOf(w.Dev) {
		if h.Device != nil {
			p.Device(pl.Node, h.Device.Dev)
		}
	}
	var names []string
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		p.Pod(c.Pod)
		names = append(names, c.Pod.Namespace+"/"+c.Pod.Name)
		if !w.Recovering && !c.Terminating() {
			p.Steps = append(p.Steps, remedy.LetGo(pl.X, c.Pod).Note("The disk under its volume is %s; all pods of the volume on this node must go, so that it is unstaged and attached anew.", w.State))
		}
	}
	p.With["pods"] = words.List(names, 4)
	if w.Recovering {
		p.Says, p.AtMost = "recovering", report.Likely
		p.Steps = []remedy.Step{remedy.Words("Find the break: " + breaks(w) + ". When the " + w.Link + " is back in time, the workload goes on by itself.")}
		if c, ok := filesystem.CarrierOf(pl); ok && filesystem.ClosedOf(c).Is().Yes() {
			p.Steps = remedy.Sentences("Find the break: "+breaks(w)+".", "When the "+w.Link+" is back, let all pods of the volume on this node end once: its filesystem has stopped meanwhile, and only a new mount opens it.")
		}
		return p
	}
	// A driver that was driven off its node while its last pods end took the disk along.
	p.LookAlikes = []diagnosis.LookAlike{{Cause: "csi-plugin-not-on-node", Is: csi.DrivenOff(pl)}}
	p.Steps = append(p.Steps, remedy.Words("Find what broke the "+w.Link+": "+breaks(w)+". A longer recovery time only hides it. If writes were lost, the filesystem wants a check later, while nothing mounts it."))
	return p
}

// breaks are the places at which a way breaks.
func breaks(w iscsi.Way) string {
	if w.Link == iscsi.RemotePort {
		return "the array's port, the switch and its zoning, the cable, the adapter of the node"
	}
	return "the target's pod or host, the network between, a lack of CPU"
}
