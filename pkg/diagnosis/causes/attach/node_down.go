package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NodeDown finds a volume that is attached to a node which does not report.
var NodeDown = &diagnosis.Rule{
	Name: "node-down", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching, diagnosis.Replicating},
	LeadsTo: []string{"mount-of-dead-device", "device-mapped-on-other-node", "rbd-lock-or-watcher-stale", "filesystem-needs-fsck",
		"attachment-stale-in-backend", "longhorn-volume-faulted", "longhorn-share-manager-down", "longhorn-instance-manager-restarted", "claim-in-use-rwop"},
	YieldsTo: []string{"node-kubelet-down-workload-alive"},
	Asks:     diagnosis.EachVolume | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return nodesDown(pl, holder.KeptOn(pl.X, pl.Node))
		}
		out := nodesDown(pl, holder.LostNodes(pl.X, pl.Volume))
		for _, l := range holder.TakenFrom(pl.X, pl.Volume) {
			out = append(out, nodeTook(pl, l))
		}
		out = append(out, diagnosis.Rest(holder.Open(pl, "/nodes")))
		return append(out, evidence.Each(holder.UnreadNodes(pl.X, pl.Volume), func(l holder.Lost) *diagnosis.Proof { return nodeUnread(pl, l) })...)
	},
}

func nodesDown(pl *evidence.Place, lost []holder.Lost) []*diagnosis.Proof {
	var out []*diagnosis.Proof
	for _, l := range lost {
		if !l.OnlyWanted() && holder.LifeOn(pl.X, l).Alive.Yes() {
			continue // node-kubelet-down-workload-alive
		}
		p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(l.Name), Says: l.Branch(),
			With:  words.Fields{"silence": l.Silence(), "attached": l.Attached(), "waits": l.WhoWaits(), "power": l.Power(), "evict": l.Eviction(), "node": l.Name, "volume": volume.Name(l.Volume)},
			State: []evidence.Answer{evidence.Yes(l.Facts()...)}, Last: []evidence.Answer{l.Silent(), l.Tied(), l.Free()},
			Steps: remedy.NodeBack(l)}
		if l.JustNow() {
			p.AtMost, p.Waiting = report.Possible, !l.WaitedBefore() // perhaps a reboot
		}
		if l.Replaced() {
			p.Severity = report.Degraded
		}
		out = append(out, ofNode(l, p))
	}
	return out
}

// nodeTook is about a volume that was taken from the node without an unmount.
func nodeTook(pl *evidence.Place, l holder.Lost) *diagnosis.Proof {
	return ofNode(l, &diagnosis.Proof{Subject: diagnosis.NodeSubject(l.Name), Says: "taken", Severity: report.Degraded,
		With:  words.Fields{"node": l.Name, "silence": l.Silence(), "volume": l.Volume.PVName(), "life": holder.LifeOn(pl.X, l).Said},
		State: []evidence.Answer{evidence.Yes(l.Facts()...), l.Taken()}, Last: []evidence.Answer{holder.LifeOn(pl.X, l).Alive},
		Steps: []remedy.Step{remedy.Words("See in the hypervisor or at the machine that " + l.Name + " is off, or was started anew since, before anybody mounts the volume elsewhere: who writes there at the same time destroys the filesystem. Bring the node back; its kubelet then unmounts by itself.")}})
}

// nodeUnread judges by pods alone when nodes could not be read.
func nodeUnread(pl *evidence.Place, l holder.Lost) *diagnosis.Proof {
	marked := l.Marked
	return ofNode(l, &diagnosis.Proof{Subject: diagnosis.NodeSubject(l.Name), Says: "unread",
		With:  words.Fields{"node": l.Name, "pod": pods.Name(marked), "age": pods.Ago(pl.X, marked.DeletionTimestamp.Time), "waits": l.WhoWaits()},
		State: []evidence.Answer{holder.MarkedLost(pl.X, marked).With(pods.State(marked)).With(pods.States(l.Waiters)...)},
		Last:  []evidence.Answer{evidence.Resource(pl.X, "/nodes").Nothing(), evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing()},
		Steps: []remedy.Step{remedy.Words("Ask somebody who may read nodes whether node " + l.Name + " reports, and have it brought back. Nothing that lets a second node write may be done before it is known to be off.")},
	})
}

func ofNode(l holder.Lost, p *diagnosis.Proof) *diagnosis.Proof {
	p.Node(l.Name)
	p.Volume(l.Volume)
	p.Pods(l.Pods...)
	p.Pods(l.Waiters...)
	p.Pods(l.Unplaced...)
	p.Attachment(l.At.VA)
	return p
}
