package longhorn

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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
