package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// AttachmentTicketLeftover finds a ticket that nobody needs and that holds a volume.
var AttachmentTicketLeftover = &diagnosis.Rule{
	Name: "longhorn-attachment-ticket-leftover", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		all := lh.TicketsOf(pl)
		var out []*diagnosis.Proof
		for _, t := range all {
			if !t.Unneeded.No() {
				out = append(out, ticketLeftover(pl, t, all))
			}
		}
		if b, ok := lh.BusyOf(pl); ok {
			out = append(out, ticketBusy(pl, b))
		}
		return out
	},
}

// ticketBusy is a ticket that somebody needs for a while, and the volume with it.
func ticketBusy(pl *evidence.Place, b lh.Busy) *diagnosis.Proof {
	v := pl.Volume.LH()
	p := &diagnosis.Proof{Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: "busy", AtMost: report.Likely, Waiting: true,
		With:  words.Fields{"ticket": b.ID, "volume": v.Name, "node": b.NodeID, "backup": b.Backup, "va": b.VA.Name},
		State: []evidence.Answer{b.Is}, Last: []evidence.Answer{b.Waits},
		Steps: []remedy.Step{remedy.Words("Wait until Backup " + b.Backup + " is done; the volume is detached by itself then. Longhorn 1.7.3, 1.8.1 and later detach at once.")},
	}
	p.Attachment(b.VA)
	p.Pods(holder.Waiters(pl.Volume)...)
	return p
}

func ticketLeftover(pl *evidence.Place, t lh.Ticket, all []lh.Ticket) *diagnosis.Proof {
	v := pl.Volume.LH()
	harm, harms := t.Harm(pl)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name),
		With:    words.Fields{"ticket": t.ID, "type": t.Type, "volume": v.Name, "node": t.NodeID, "why": t.Why, "harm": harm, "refute": t.Refute},
		State:   []evidence.Answer{evidence.Yes(t.Fact(pl.Volume)), t.Unneeded, t.Holds(pl, all), harms},
		Last:    []evidence.Answer{t.Sure(pl)},
	}
	if t.Idle(pl) {
		p.Severity = report.Degraded
	}
	if t.First != "" {
		p.Steps = append(p.Steps, remedy.Words(t.First))
	}
	entry := fmt.Sprintf("the ticket entry %s can be taken out of spec.attachmentTickets of the Longhorn VolumeAttachment %s", t.ID, pl.Volume.Longhorn.Attachment.Name)
	switch unused := volume.UnusedOn(pl.X, pl.Volume, t.NodeID); {
	case unused.No():
		p.Steps = append(p.Steps, remedy.Words("Node "+t.NodeID+" still mounts or uses the volume's device: release that first, do not remove the ticket before."))
	case unused.Unseen():
		p.Steps = append(p.Steps, remedy.Words("Before the ticket is removed by hand, make sure on node "+t.NodeID+" that no mount namespace has the volume's device and no process uses it: that was not read whole. Once that is sure, "+entry+"."))
	default:
		p.Steps = append(p.Steps, remedy.Words("Node "+t.NodeID+" neither mounts the volume's device nor has a process that uses it, so "+entry+". Verify: the waiting ticket becomes satisfied, or the volume detaches."))
	}
	p.Attachment(pl.Volume.Attachments...)
	p.At(t.NodeID)
	return p
}
