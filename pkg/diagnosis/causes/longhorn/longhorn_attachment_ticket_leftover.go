package longhorn

import (
	_ "embed"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_attachment_ticket_leftover.md
var longhornAttachmentTicketLeftoverDoc string

// AttachmentTicketLeftover finds a ticket that nobody needs and that holds a volume.
var AttachmentTicketLeftover = &diagnosis.Rule{
	Name: "longhorn-attachment-ticket-leftover", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs: []diagnosis.Need{
		diagnosis.API("longhorn.io/volumeattachments"), diagnosis.API("longhorn.io/volumes"),
		diagnosis.API("storage.k8s.io/volumeattachments"), diagnosis.API("/pods"),
		diagnosis.Probe("mountns"), diagnosis.Probe("openfiles"),
	},
	Explains: []string{"attach-failed", "detach-stuck", "pod-waiting-for-volume", "volume-attach-loop", "multi-attach-error"},
	Doc:      longhornAttachmentTicketLeftoverDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Longhorn != nil && v.Longhorn.Attachment != nil && v.Longhorn.Volume != nil {
				for i := range v.Longhorn.Attachment.Tickets {
					leftover(p, v, &v.Longhorn.Attachment.Tickets[i])
				}
			}
		}
	},
}

func leftover(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) {
	need := judge(p, v, t)
	if !need.unneeded || !holds(p, v, t) {
		return
	}
	harm, evidence := harmOf(p, v, t)
	if harm == "" {
		return
	}
	c := report.Certain
	if need.maybeRepair && !drained(p, v, t.NodeID).blocked && blockedTicket(p, v, t) == nil {
		c = report.Likely
	}
	if need.unseenKind && blockedTicket(p, v, t) == nil {
		c = report.Likely // nobody waits, and the list may not have been recorded
	}
	lh := v.Longhorn.Volume
	f := p.Find(c, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v).Located(t.NodeID)
	for _, va := range v.Attachments {
		f.Object("va", va.Name)
	}
	f.Sayf("The attachment ticket %s (type %s) holds Longhorn volume %s on node %s, and nobody needs it: %s. %s.",
		t.ID, t.Type, lh.Name, t.NodeID, need.why, upper(harm))
	f.Fact(diagnosis.FromAPI("VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "spec.attachmentTickets["+t.ID+"]", fmt.Sprintf("type %s, node %s, generation %d", t.Type, t.NodeID, t.Generation)))
	f.Fact(need.evidence...).Fact(evidence...)
	f.Unless(need.refute)
	adviseTicket(p, f, v, t, need)
	p.Report(f)
}

// holds tells whether it is this ticket that keeps the volume on its node: the volume
// is there, or on its way there, and no other ticket for that node is needed.
func holds(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) bool {
	lh := v.Longhorn.Volume
	if lh.Status.CurrentNodeID != t.NodeID && lh.NodeID != t.NodeID {
		return false
	}
	for i := range v.Longhorn.Attachment.Tickets {
		if o := &v.Longhorn.Attachment.Tickets[i]; o.ID != t.ID && o.NodeID == t.NodeID && !judge(p, v, o).unneeded {
			return false
		}
	}
	return true
}

// adviseTicket names the owner's own way first; taking an entry out by hand needs
// the node's negatives.
func adviseTicket(p *diagnosis.Pass, f *diagnosis.Finding, v *snapshot.Volume, t *snapshot.LHTicket, need verdict) {
	if need.first != "" {
		f.Advise(remedy.Words(need.first))
	}
	view, ok := p.Probed(t.NodeID)
	if !ok {
		f.Advise(remedy.Words("Before the ticket is removed by hand, make sure on node " + t.NodeID + " that no mount namespace has the volume's device and no process uses it: the node was not probed. Once that is sure, take the entry " + t.ID + " out of spec.attachmentTickets of the Longhorn VolumeAttachment " + v.Longhorn.Attachment.Name + "."))
		return
	}
	if d, found := p.DeviceOn(v, t.NodeID); found && (len(view.Uses(d.Dev)) > 0 || len(view.Openers(d.Dev)) > 0) {
		f.Advise(remedy.Words(fmt.Sprintf("Node %s still mounts or uses %s: release that first, do not remove the ticket before.", t.NodeID, d.Dev)))
		return
	}
	f.Advise(remedy.Words(fmt.Sprintf("Node %s neither mounts the volume's device in any namespace that was read nor has a process that uses it, so the ticket entry %s can be taken out of spec.attachmentTickets of the Longhorn VolumeAttachment %s. Verify: the waiting ticket becomes satisfied, or the volume detaches.",
		t.NodeID, t.ID, v.Longhorn.Attachment.Name)))
}

// blockedTicket is another ticket that waits because of this one, and that somebody
// wants: of the waiting ones, those that are left over themselves do not count.
func blockedTicket(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) *snapshot.LHTicket {
	for i := range v.Longhorn.Attachment.Tickets {
		o := &v.Longhorn.Attachment.Tickets[i]
		if o.ID == t.ID || o.NodeID == t.NodeID || o.Satisfied && o.SatisfiedGeneration {
			continue
		}
		switch o.Type {
		case "csi-attacher":
			if judgeCSI(p, v, o).unneeded {
				continue
			}
		case "backup-controller", "snapshot-controller":
			continue // they yield to a workload elsewhere
		}
		return o
	}
	return nil
}

// harmOf says what the ticket does: it keeps a wanted one waiting, it blocks a
// drain, or it keeps a volume attached that nobody wants.
func harmOf(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) (string, []report.Evidence) {
	lh := v.Longhorn.Volume
	if o := blockedTicket(p, v, t); o != nil {
		text := ""
		for _, c := range o.Conditions {
			if c.Message != "" {
				text = c.Message
			}
		}
		return fmt.Sprintf("the ticket %s (type %s) for node %s waits because of it", o.ID, o.Type, o.NodeID),
			[]report.Evidence{diagnosis.FromAPI("VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "status.attachmentTicketStatuses["+o.ID+"]", "not satisfied: "+none(text))}
	}
	if lh.Status.State != "attached" || lh.Status.CurrentNodeID != t.NodeID {
		return "", nil
	}
	if d := drained(p, v, t.NodeID); d.cordoned && !used(v) {
		said := "node " + t.NodeID + " is cordoned, and a drain of it cannot end while the ticket keeps its instance-manager from being evicted"
		if d.blocked {
			said = "it keeps the instance-manager of node " + t.NodeID + " from being evicted, so the drain of that node never ends"
		}
		return said, append([]report.Evidence{diagnosis.FromAPI("Node "+t.NodeID, "spec.unschedulable", "true")}, d.evidence...)
	}
	if !used(v) && len(v.Attachments) == 0 {
		return "the volume stays attached although no pod and no VolumeAttachment want it", []report.Evidence{diagnosis.FromAPI("Volume "+lh.Name, "status.state", "attached on "+lh.Status.CurrentNodeID)}
	}
	return "", nil
}
