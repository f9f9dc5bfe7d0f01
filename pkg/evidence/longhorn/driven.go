package longhorn

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NoTicket asks whether no attachment ticket asks for the node that spec.nodeID of a
// volume names. Before 1.5 there are no tickets, and the field is written by the API; since
// then each volume has an attachment object, made anew at once where it was deleted
// (handleVolumeAttachmentCreation in volume_controller.go), so one without was not collected.
func NoTicket(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	lh, a := v.LH(), v.Longhorn.Attachment
	if n, known := Version(x); lh.NodeID == "" || lh.DeletionTimestamp != nil || known && n < 10500 {
		return evidence.No()
	}
	if a == nil {
		return Read(x, "volumeattachments").Found()
	}
	if t := evidence.First(a.Tickets, func(t *snapshot.LHTicket) bool { return t.NodeID == lh.NodeID }); t != nil {
		return evidence.No(evidence.FromAPI("VolumeAttachment.longhorn.io "+lh.Name, "spec.attachmentTickets["+t.ID+"].nodeID", t.NodeID))
	}
	return Read(x, "volumeattachments").Nothing(evidence.FromAPI("Volume "+lh.Name, "spec.nodeID", lh.NodeID),
		evidence.FromAPI("VolumeAttachment.longhorn.io "+lh.Name, "spec.attachmentTickets", tickets(v)))
}

// tickets lists the tickets of a volume as a sentence does.
func tickets(v *snapshot.Volume) string {
	all := evidence.Each(v.Tickets(), func(t *snapshot.LHTicket) string { return fmt.Sprintf("%s (%s, node %s)", t.ID, t.Type, t.NodeID) })
	return OrNone(strings.Join(all, ", "))
}

// DrivenLong asks whether spec.nodeID has named its node for longer than Longhorn takes to
// follow a ticket that was removed: the volume goes round, or has been attached for over a
// minute. Not seen: it is attached, or somebody speaks of attaching it, and nobody dates it.
func DrivenLong(pl *evidence.Place) evidence.Answer {
	lh := pl.Volume.LH()
	if TurnsOf(pl.X, pl.Volume).Loops(lh.Status.State) {
		return evidence.Yes()
	}
	if since, known := attachedSince(pl.X, pl.Volume); known {
		return evidence.When(since > time.Minute)
	}
	by, pod, _, fresh := Writer(pl)
	if lh.Status.State == "attached" || fresh || by+pod != "" && lh.Status.State != "detaching" {
		return evidence.Unseen(evidence.Lack{Need: "api//events/" + lh.Namespace, Why: "how long spec.nodeID has named the node without a ticket"})
	}
	return evidence.No() // a ticket may just have been removed: the volume detaches within a minute
}

// attachedSince is how long a volume has been attached, by its last events, or by a
// container on its node that runs with it.
func attachedSince(x *snapshot.Index, v *snapshot.Volume) (time.Duration, bool) {
	lh := v.LH()
	if lh.Status.State != "attached" {
		return 0, false
	}
	for _, c := range v.LiveConsumersOn(lh.NodeID) {
		for _, s := range c.Pod.Status.ContainerStatuses {
			if s.State.Running != nil && x.Age(s.State.Running.StartedAt.Time) > time.Minute {
				return x.Age(s.State.Running.StartedAt.Time), true
			}
		}
	}
	var at, left time.Time
	for _, e := range x.Events("Volume", lh.Namespace, lh.Name) {
		switch {
		case e.Reason == "Attached" && e.Last.After(at):
			at = e.Last
		case e.Reason == "Detached" && e.Last.After(left):
			left = e.Last
		}
	}
	return x.Age(at), !at.IsZero() && !left.After(at)
}

// Writer finds who speaks of attaching the volume to that node outside of Longhorn (fresh:
// just now), and the name that the volume itself notes.
func Writer(pl *evidence.Place) (by, pod string, facts []report.Evidence, fresh bool) {
	lh := pl.Volume.LH()
	if by = lh.LastAttachedBy; by != "" {
		facts = append(facts, evidence.FromAPI("Volume "+lh.Name, "spec.lastAttachedBy", by))
	}
	for _, t := range pl.Texts {
		where, isPod := strings.CutPrefix(t.Locator, "logs/")
		said := strings.ToLower(t.Raw)
		if t.Source != "log" || !isPod || strings.HasPrefix(where, lh.Namespace+"/") || !strings.Contains(t.Raw, lh.NodeID) || !strings.Contains(said, "attach") && !strings.Contains(said, "mount") {
			continue
		}
		if parts := strings.SplitN(where, "/", 3); len(parts) == 3 {
			pod = parts[0] + "/" + parts[1]
		}
		return by, pod, append(facts, t.Evidence()), t.Fresh
	}
	return by, pod, facts, false
}
