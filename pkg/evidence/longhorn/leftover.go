package longhorn

import (
	"cmp"
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Leftover is a field of a Volume's status that says something which is not so any more.
type Leftover struct {
	Field, Value, Branch string
	State, Last          evidence.Answer
}

// Leftovers lists them. pendingNodeID blocks on 1.5.0 to 1.5.4 only, whichever node it
// names; from 1.5.5 on nobody reads it (longhorn 1.5.5, release notes).
func Leftovers(x *snapshot.Index, v *snapshot.Volume) []Leftover {
	var out []Leftover
	lh := v.LH()
	add := func(branch, field, value string, state, last evidence.Answer) {
		if !state.No() && !last.No() {
			state = evidence.All(evidence.Yes(evidence.FromAPI("Volume "+lh.Name, field, value)), state)
			out = append(out, Leftover{field, value, branch, state, last})
		}
	}
	st := lh.Status
	if st.PendingNodeID != "" {
		add("pending", "status.pendingNodeID", st.PendingNodeID, evidence.Yes(), readsPending(x))
	}
	if st.CurrentNodeID != "" && lh.NodeID == "" {
		add("current", "status.currentNodeID", st.CurrentNodeID, nodeGone(x, st.CurrentNodeID), evidence.Yes())
	}
	if done := progressOf(x.EngineActive(v)); st.RestoreRequired && done.Finished {
		add("restore", "status.restoreRequired", "true", evidence.Yes(done.Facts...), endedLongAgo(lh))
	}
	return out
}

// endedLongAgo asks whether a restore that is over ended some time ago. Longhorn detaches a restored volume by
// itself; while it is attached still, the restore may have ended a moment ago, as nothing dates it.
func endedLongAgo(v *snapshot.LHVolume) evidence.Answer {
	if v.Status.State != "attached" {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/volumes", Why: "when the restore of volume " + v.Name + " ended: it may be a moment ago"})
}

// readsPending asks whether this version of Longhorn waits for pendingNodeID.
func readsPending(x *snapshot.Index) evidence.Answer {
	n, known := Version(x)
	if !known {
		return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/settings", Why: "Longhorn's version: only 1.5.0 to 1.5.4 read the field"})
	}
	return evidence.When(n >= 10500 && n <= 10504, evidence.FromAPI("Setting current-longhorn-version", "value", x.LonghornVersion()))
}

// nodeGone asks whether neither Kubernetes nor Longhorn has a node of a name.
func nodeGone(x *snapshot.Index, name string) evidence.Answer {
	if x.Node(name) != nil || x.LHNode(name) != nil {
		return evidence.No()
	}
	return Read(x, "nodes").And(evidence.Resource(x, "/nodes")).Nothing(evidence.FromAPI("Nodes", "", "collected; none is named "+name))
}

// LongWanted asks whether a volume has been wanted for longer than Longhorn takes to
// attach one, and is not attached, or only for its restore (longhorn issue 5506).
func LongWanted(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	lh := v.LH()
	withheld := lh.Status.RestoreRequired && slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return !va.Status.Attached })
	if lh.Status.State == "attached" && !withheld || WantedFor(x, v) < patience {
		return evidence.No()
	}
	facts := evidence.Yes(evidence.FromAPI("Volume "+lh.Name, "status.state", OrNone(lh.Status.State)))
	for _, t := range waitingTickets(v) {
		facts = facts.With(evidence.FromAPI("VolumeAttachment.longhorn.io "+v.Longhorn.Attachment.Name, "status.attachmentTicketStatuses["+t.ID+"]", "not satisfied"))
	}
	return facts
}

// OrNone is a word for what may be empty.
func OrNone(s string) string {
	return cmp.Or(s, "none")
}

// Undone asks whether Longhorn has no part any more in an attachment that the API calls
// attached: the volume rests detached, shall be on no node, and has no ticket of that name.
// A volume without a usable replica, or one that is restored, is another story.
func Undone(pl *evidence.Place, va *storagev1.VolumeAttachment) evidence.Answer {
	v := pl.Volume.LH()
	if v == nil || v.NodeID != "" || v.Status.State != "detached" || v.Status.CurrentNodeID != "" || !Faulted(pl.Volume).No() || v.Status.RestoreRequired {
		return evidence.No()
	}
	a := pl.Volume.Longhorn.Attachment
	if a == nil || slices.ContainsFunc(a.Tickets, func(t *snapshot.LHTicket) bool { return t.ID == va.Name || t.NodeID == va.Spec.NodeName }) {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("Volume "+v.Name, "status.state", v.Status.State),
		evidence.FromAPI("VolumeAttachment.longhorn.io "+a.Name, "spec.attachmentTickets["+va.Name+"]", "absent"))
}
