package claim

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/slots"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// AttachLimitExceeded finds a node that holds as many volumes as its driver can attach.
var AttachLimitExceeded = &diagnosis.Rule{
	Name: "attach-limit-exceeded", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.IsLonghorn() || slots.Driver(pl.Volume) == "" {
			return nil
		}
		return evidence.Each(pl.Volume.Waiting(), func(w *snapshot.Consumer) *diagnosis.Proof {
			if w.Node() == "" {
				return noNodeHasRoom(pl, w)
			}
			return nodeFull(pl, w)
		})
	},
}

// nodeFull weighs, for a volume that waits on a node, how many places are taken there and
// by whom, how many the driver publishes, and what the backend says.
func nodeFull(pl *evidence.Place, w *snapshot.Consumer) *diagnosis.Proof {
	away := slots.NotAttached(pl, w.Node())
	if away.No() {
		return nil
	}
	full := slots.FullFor(pl, w.Node())
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(w.Node()), Says: full.How,
		With: words.Fields{"node": w.Node(), "driver": slots.Driver(pl.Volume), "count": fmt.Sprint(full.Taken.Count()), "sources": full.Taken.Sources(),
			"volume": pl.Volume.PVName(), "limit": full.Limit, "disks": fmt.Sprint(full.Taken.Disks)},
		State: []evidence.Answer{away, full.Is},
		Last:  []evidence.Answer{full.Sure},
		Steps: []remedy.Step{remedy.Words("Move pods to other nodes or add nodes. Then let the scheduler know the limit: the driver's volumeAttachLimit or reserved attachments. Attachments of mounted volumes are no place to make room.")},
		Also:  remedy.IdleSlots(pl.X, full.Taken),
	}
	if b, ok := holder.BackendOf(pl); ok && full.How != "told" && b.Waiter.Spec.NodeName == w.Node() {
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "attachment-stale-in-backend", Is: b.Refused}}
	}
	p.Attachment(pl.Volume.AttachmentOn(w.Node()))
	p.Users(w)
	p.At(w.Node())
	return p
}

// noNodeHasRoom handles a pod that the scheduler places nowhere because nodes which it
// could use hold as many volumes of the driver as they publish.
func noNodeHasRoom(pl *evidence.Place, w *snapshot.Consumer) *diagnosis.Proof {
	room := slots.RoomFor(pl, w.Pod)
	if len(room.Full) == 0 {
		return nil
	}
	first := room.Full[0]
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(first.Node), Says: room.How,
		With: words.Fields{"node": first.Node, "driver": first.Driver, "count": fmt.Sprint(room.Counts[0]), "limit": fmt.Sprint(room.Limits[0]),
			"pod": w.Pod.Namespace + "/" + w.Pod.Name, "what": room.What(pl.Volume), "others": words.List(room.Names()[1:], 5)},
		State: []evidence.Answer{room.Said}, Last: []evidence.Answer{room.Is, room.Others},
		Steps: []remedy.Step{remedy.Words("Move pods to other nodes or add nodes that the pod may use; look whether attachments there are left over. Attachments of mounted volumes are no place to make room.")},
		Also:  remedy.IdleSlots(pl.X, room.Full...),
	}
	p.Users(w)
	p.At(first.Node)
	return p
}
