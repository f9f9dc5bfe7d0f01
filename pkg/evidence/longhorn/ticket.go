package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Ticket is a ticket of a Longhorn VolumeAttachment, judged by its type: what proves that
// nobody needs it.
type Ticket struct {
	*snapshot.LHTicket
	Unneeded evidence.Answer
	Doubt    []evidence.Lack // why it may be wanted all the same, unless somebody waits for it to go
	ByHand   bool            // a person made it, perhaps on purpose
	Why      string
	Refute   string
	First    string // the owner's own way out, in words
}

// TicketsOf are those of the place's volume.
func TicketsOf(pl *evidence.Place) []Ticket {
	if pl.Volume.LH() == nil {
		return nil
	}
	return evidence.Each(pl.Volume.Tickets(), func(t *snapshot.LHTicket) Ticket { return judge(pl, t) })
}

func judge(pl *evidence.Place, t *snapshot.LHTicket) Ticket {
	switch t.Type {
	case "csi-attacher":
		return Ticket{LHTicket: t, Unneeded: ownerless(pl.X, t), Why: "its id is that of a VolumeAttachment that does not exist any more", Refute: "a VolumeAttachment named " + t.ID}
	case "longhorn-api":
		return byHand(pl, t)
	case "longhorn-upgrader":
		return Ticket{LHTicket: t, Unneeded: ofUpgrade(pl, t), Why: "the upgrade that made it is over, and neither a VolumeAttachment nor a pod on the node wants the volume", Refute: "a longhorn-manager of the old version"}
	case "backup-controller", "snapshot-controller":
		return ofBackup(pl, t)
	case "share-manager-controller":
		return ofShare(pl, t)
	}
	return ofWork(pl, t)
}

// ownerless: the id of a csi ticket is the name of its VolumeAttachment.
func ownerless(x *snapshot.Index, t *snapshot.LHTicket) evidence.Answer {
	if x.Attachment(t.ID) != nil {
		return evidence.No(evidence.FromAPI("VolumeAttachment "+t.ID, "metadata.name", t.ID))
	}
	return evidence.Resource(x, "storage.k8s.io/volumeattachments").Nothing()
}

// Unused asks whether no pod uses the place's volume: none was read, or Longhorn dates the
// last one.
func Unused(pl *evidence.Place) evidence.Answer {
	if Used(pl.Volume) {
		return evidence.No()
	}
	if lh := pl.Volume.LH(); lh != nil && lh.Status.Kubernetes.LastPodRefAt != "" {
		return evidence.Yes(evidence.FromAPI("Volume "+lh.Name, "status.kubernetesStatus.lastPodRefAt", lh.Status.Kubernetes.LastPodRefAt))
	}
	return pl.Consumers().Nothing()
}

// unusedOn asks whether no pod of a node uses the volume.
func unusedOn(pl *evidence.Place, node string) evidence.Answer {
	if len(pl.Volume.LiveConsumersOn(node)) > 0 {
		return evidence.No()
	}
	return pl.Consumers().Nothing()
}

// byHand: a ticket of the UI or the API, left where no pod uses the volume.
func byHand(pl *evidence.Place, t *snapshot.LHTicket) Ticket {
	out := Ticket{
		LHTicket: t, ByHand: true, Why: "it was made by hand (UI or API), and no pod on the node uses the volume",
		Refute: "somebody who attached the volume on purpose, for a repair or a restore",
		First:  "Detach the volume in the Longhorn UI (or remove the ticket of whoever attached it), after asking whether a repair is under way.",
		Doubt:  []evidence.Lack{{Need: "api/longhorn.io/volumeattachments", Why: "whether somebody attached the volume on purpose"}},
	}
	if o := contradicted(pl, t); o != nil {
		out.Why = "it was made by hand (UI or API) in maintenance mode, without a device, and a pod on the node wants the device"
		out.Unneeded = evidence.Not(ownerless(pl.X, o))
		return out
	}
	if slices.ContainsFunc(pl.Volume.Tickets(), func(o *snapshot.LHTicket) bool { return o.Type == "csi-attacher" && o.NodeID == t.NodeID }) {
		return out
	}
	idle := evidence.All(Unused(pl), evidence.When(idleFor(pl, t)))
	waits := evidence.Any(evidence.When(blockedBy(pl, t) != nil), drainOf(pl, t.NodeID).Blocked)
	out.Unneeded = evidence.All(unusedOn(pl, t.NodeID), evidence.Any(waits, idle))
	return out
}

// idleFor tells whether no pod has used the volume for a while, and nothing on the
// ticket's node does. Longhorn dates the last pod; where there never was one, the age of
// the ticket counts. Without either nobody knows: a repair may just have begun.
func idleFor(pl *evidence.Place, t *snapshot.LHTicket) bool {
	if view := pl.X.View(t.NodeID); view != nil {
		if dev, ok := pl.X.DeviceOn(pl.Volume, t.NodeID); ok && (len(view.Uses(dev.Dev)) > 0 || len(view.Openers(dev.Dev)) > 0) {
			return false // somebody works with it
		}
	}
	text := pl.Volume.LH().Status.Kubernetes.LastPodRefAt
	if text == "" {
		return settled(pl.X, t, freshFor)
	}
	last, err := time.Parse(time.RFC3339, text)
	return err == nil && pl.X.Age(last) > freshFor
}

// ofUpgrade: tickets that the upgrade to 1.5 wrote once for attached volumes.
func ofUpgrade(pl *evidence.Place, t *snapshot.LHTicket) evidence.Answer {
	if pl.Volume.AttachmentOn(t.NodeID) != nil || !upgradeOver(pl.X) {
		return evidence.No()
	}
	return evidence.All(unusedOn(pl, t.NodeID), evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing())
}

// upgradeOver tells whether every longhorn-manager runs the current version. One whose
// image carries no tag proves nothing.
func upgradeOver(x *snapshot.Index) bool {
	want, ok := x.Setting("current-longhorn-version")
	managers := 0
	for _, pod := range x.PodsIn(x.LonghornNamespace()) {
		if pod.Labels["app"] != "longhorn-manager" {
			continue
		}
		for _, c := range pod.Spec.Containers {
			image, _, _ := strings.Cut(c.Image, "@")
			if !strings.Contains(image, "longhorn-manager") {
				continue
			}
			if managers++; !strings.HasSuffix(image, ":"+want) {
				return false
			}
		}
	}
	return ok && managers > 0
}

// ofShare: the share-manager that wanted the device is gone, or nobody wants its share.
func ofShare(pl *evidence.Place, t *snapshot.LHTicket) Ticket {
	v := pl.Volume
	out := Ticket{LHTicket: t, Why: "no pod and no csi ticket want the share", Refute: "a pod that uses the shared volume"}
	var clients []evidence.Answer
	if v.RegularRWX() || v.Longhorn.ShareManager != nil {
		for _, o := range v.Tickets() {
			if o.Type == "csi-attacher" {
				clients = append(clients, ownerless(pl.X, o))
			}
		}
	}
	gone := Unused(pl)
	if v.Longhorn.ShareManager == nil {
		out.Why = "the volume has no share-manager any more"
		gone = Read(pl.X, "sharemanagers").Nothing()
	}
	out.Unneeded = evidence.All(append(clients, gone)...)
	return out
}

// Fact quotes a ticket.
func (t Ticket) Fact(v *snapshot.Volume) report.Evidence {
	return evidence.FromAPI("VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "spec.attachmentTickets["+t.ID+"]", fmt.Sprintf("type %s, node %s, generation %d", t.Type, t.NodeID, t.Generation))
}
