package longhorn

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Holds asks whether it is this ticket that keeps the volume on its node: the volume is
// there, or on its way there, and no other ticket for that node is needed.
func (t Ticket) Holds(pl *evidence.Place, all []Ticket) evidence.Answer {
	lh := pl.Volume.LH()
	if lh.Status.CurrentNodeID != t.NodeID && lh.NodeID != t.NodeID {
		return evidence.No()
	}
	out := evidence.Yes()
	for _, o := range all {
		if against := contradicted(pl, t.LHTicket); o.ID != t.ID && o.NodeID == t.NodeID && (against == nil || o.ID != against.ID) {
			out = evidence.All(out, o.Unneeded)
		}
	}
	return out
}

// blockedBy is another ticket that waits because of one, and that somebody wants: of the
// waiting ones, those that are left over themselves do not count.
func blockedBy(pl *evidence.Place, t *snapshot.LHTicket) *snapshot.LHTicket {
	for _, o := range pl.Volume.Tickets() {
		if o.ID == t.ID || o.NodeID == t.NodeID && o != contradicted(pl, t) || o.Satisfied && o.SatisfiedGeneration {
			continue
		}
		switch o.Type {
		case "csi-attacher":
			if ownerless(pl.X, o).Yes() {
				continue
			}
		case "backup-controller", "snapshot-controller":
			continue // they yield to a workload elsewhere
		}
		return o
	}
	return nil
}

// contradicted is a csi ticket for the same node that waits because a satisfied one holds the volume
// there without a device (maintenance mode): of two the one with more weight decides about the
// frontend, and that of the API has more (longhorn-manager, controller/volume_attachment_controller.go).
func contradicted(pl *evidence.Place, t *snapshot.LHTicket) *snapshot.LHTicket {
	const without = "disableFrontend"
	if t.Type != "longhorn-api" || t.Parameters[without] != "true" || !t.Satisfied {
		return nil
	}
	return evidence.First(pl.Volume.Tickets(), func(o *snapshot.LHTicket) bool {
		return o.Type == "csi-attacher" && o.NodeID == t.NodeID && o.Parameters[without] == "false" && !o.Satisfied
	})
}

// Harm asks what the ticket does, as a sentence says it: it keeps a wanted one waiting, it
// blocks a drain, or it keeps a volume attached that nobody wants.
func (t Ticket) Harm(pl *evidence.Place) (what string, a evidence.Answer) {
	v := pl.Volume.LH()
	if o := blockedBy(pl, t.LHTicket); o != nil {
		text := ""
		for _, c := range o.Conditions {
			if c.Message != "" {
				text = c.Message
			}
		}
		return fmt.Sprintf("The ticket %s (type %s) for node %s waits because of it", o.ID, o.Type, o.NodeID),
			evidence.Yes(evidence.FromAPI("VolumeAttachment.longhorn.io "+pl.Volume.Longhorn.Attachment.Name, "status.attachmentTicketStatuses["+o.ID+"]", "not satisfied: "+OrNone(text)))
	}
	if v.Status.State != "attached" || v.Status.CurrentNodeID != t.NodeID {
		return "", evidence.No()
	}
	unused := Unused(pl)
	if d := drainOf(pl, t.NodeID); d.Cordoned.Yes() && !unused.No() {
		what = "Node " + t.NodeID + " is cordoned, and a drain of it cannot end while the ticket keeps its instance-manager from being evicted"
		if d.Blocked.Yes() {
			what = "It keeps the instance-manager of node " + t.NodeID + " from being evicted, so the drain of that node never ends"
		}
		return what, evidence.All(d.Cordoned.With(d.Blocked.Facts()...), unused)
	}
	wanted := evidence.When(len(pl.Volume.Attachments) > 0)
	return "The volume stays attached although no pod and no VolumeAttachment want it",
		evidence.All(unused, evidence.Not(wanted), evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing(), evidence.Yes(evidence.FromAPI("Volume "+v.Name, "status.state", "attached on "+v.Status.CurrentNodeID)))
}

// Idle tells whether it only keeps attached what nobody wants: nothing waits for it to go.
func (t Ticket) Idle(pl *evidence.Place) bool {
	return blockedBy(pl, t.LHTicket) == nil && !drainOf(pl, t.NodeID).Cordoned.Yes() && len(pl.Volume.Waiting()) == 0
}

// Sure asks whether nobody can want the ticket on purpose: somebody waits for it to go.
func (t Ticket) Sure(pl *evidence.Place) evidence.Answer {
	switch {
	case len(t.Doubt) == 0, blockedBy(pl, t.LHTicket) != nil, t.ByHand && drainOf(pl, t.NodeID).Blocked.Yes():
		return evidence.Yes()
	}
	return evidence.Unseen(t.Doubt...)
}

// Drain is what shows that a node is being emptied. A cordon alone is no drain.
type Drain struct {
	Cordoned evidence.Answer
	Blocked  evidence.Answer // it was begun, and the instance-manager is still there
}

// drainOf looks for traces of a drain of a cordoned node: refused evictions, a taint or an
// annotation of whoever drains, or a node from which all ordinary pods have gone.
func drainOf(pl *evidence.Place, node string) Drain {
	out := Drain{Cordoned: Cordoned(pl.X, node), Blocked: evidence.No()}
	if !out.Cordoned.Yes() {
		return out
	}
	facts := evictions(pl, node)
	for _, t := range pl.X.Node(node).Spec.Taints {
		if strings.Contains(t.Key+t.Value, "drain") {
			facts = append(facts, evidence.FromAPI("Node "+node, "spec.taints", t.Key+"="+t.Value+":"+string(t.Effect)))
		}
	}
	if len(facts) > 0 {
		out.Blocked = evidence.Yes(facts...)
	} else {
		out.Blocked = emptied(pl.X, node)
	}
	return out
}

// evictions are events that say that the instance-manager of a node may not be evicted, or
// that Longhorn does not detach what was attached by hand for the cordon.
func evictions(pl *evidence.Place, node string) []report.Evidence {
	var out []report.Evidence
	look := func(kind, namespace, name, word string) {
		for _, e := range pl.X.Events(kind, namespace, name) {
			if strings.Contains(e.Message, word) {
				out = append(out, evidence.FromEvent(kind+" "+name, e))
			}
		}
	}
	for _, im := range pl.X.InstanceManagersOn(node) {
		look("Pod", im.Namespace, im.Name, "disruption budget")
	}
	if lh := pl.Volume.LH(); lh != nil {
		for _, kind := range []string{"VolumeAttachment", "Volume"} {
			look(kind, lh.Namespace, lh.Name, "Failed to detach manually attached volume")
		}
	}
	return out
}

// emptied asks whether nothing is left on a node but what a drain leaves: DaemonSet and
// static pods, and Longhorn's own.
func emptied(x *snapshot.Index, node string) evidence.Answer {
	daemons := 0
	for _, pod := range x.PodsOn(node) {
		owner := metav1.GetControllerOf(pod)
		switch {
		case owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node"):
			daemons++
		case pod.Namespace == x.LonghornNamespace(), snapshot.PodFinished(pod):
		default:
			return evidence.No(evidence.FromPod(pod, "spec.nodeName", node))
		}
	}
	if daemons == 0 {
		return evidence.No()
	}
	return evidence.Resource(x, "/pods").Nothing()
}
