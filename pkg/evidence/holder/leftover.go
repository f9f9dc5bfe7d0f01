package holder

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DetachBackoff is the longest pause between two tries of the external attacher
// (--retry-interval-max, 5 min): a younger leftover may go by itself.
const DetachBackoff = 5 * time.Minute

// LeftOver asks whether an attachment of a volume that only one node may have is older than
// any back-off, names no reason to stay, and keeps pods waiting that are as old.
func LeftOver(x *snapshot.Index, v *snapshot.Volume, va *storagev1.VolumeAttachment) (waiters []*corev1.Pod, a evidence.Answer) {
	waiters = KeptFrom(x, v, va)
	switch {
	case len(waiters) == 0, !va.Status.Attached, va.Status.DetachError != nil && !Denied(va).Yes():
		return nil, evidence.No()
	case va.DeletionTimestamp != nil && x.Age(va.DeletionTimestamp.Time) <= volume.Handover: // it is just being detached
		return nil, evidence.No()
	case x.Age(va.CreationTimestamp.Time) <= DetachBackoff, x.Age(waiters[0].CreationTimestamp.Time) <= DetachBackoff:
		return nil, evidence.No()
	}
	return waiters, evidence.Yes(AttachedFact(va)).With(pods.States(waiters)...)
}

// NoneLives asks whether no pod of a volume on a node is unfinished, also of those that are
// being deleted.
func NoneLives(x *snapshot.Index, v *snapshot.Volume, node string) evidence.Answer {
	if len(liveOn(v, node)) > 0 {
		return evidence.No()
	}
	return evidence.ConsumersOf(x, v).And(evidence.Resource(x, "/persistentvolumeclaims")).Nothing()
}

// OnlyTicket asks whether Longhorn holds a volume on a node for this attachment alone: with
// another ticket the cause is the ticket. One that Longhorn interrupts when a workload wants
// the volume elsewhere keeps nobody waiting by itself, when it is interrupted.
func OnlyTicket(x *snapshot.Index, v *snapshot.Volume, va *storagev1.VolumeAttachment) evidence.Answer {
	if v.Longhorn == nil {
		return evidence.Yes()
	}
	if v.Longhorn.Attachment == nil {
		return evidence.Resource(x, "longhorn.io/volumeattachments").Nothing()
	}
	out := evidence.Yes()
	for _, t := range v.Tickets() {
		switch yields := t.Type == "snapshot-controller" || t.Type == "backup-controller"; {
		case t.ID == va.Name || t.NodeID != va.Spec.NodeName:
		case !yields:
			return evidence.No()
		default:
			out = evidence.Unseen(evidence.Lack{Need: "that Longhorn's ticket " + t.ID + " ends when the volume is wanted elsewhere", Node: t.NodeID, Why: "it is still there"})
		}
	}
	return out
}

// noAttachment is how backends say that there is nothing to detach; a driver has to take that for done
// (CSI specification, ControllerUnpublishVolume), and some do not.
var noAttachment = pattern.MustCompile(`(?i)\b(?:is|was|are) not (?:currently )?attached\b|\bnot attached to (?:an?y? |the )?(?:node|server|instance|vm|host|machine|droplet)|\bhas no attachments?\b|\bno attachments? (?:was |were )?found\b|\battachment (?:was )?not found\b|\bvolume not attached\b`)

// Denied asks whether the backend says, since the deletion of an attachment was asked for, that it
// has none.
func Denied(va *storagev1.VolumeAttachment) evidence.Answer {
	e := va.Status.DetachError
	if va.DeletionTimestamp == nil || e == nil || e.Time.Before(va.DeletionTimestamp) || !noAttachment.MatchString(e.Message) {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "status.detachError", e.Message))
}

// NotAsked asks whether nobody has asked to undo an attachment: why a deletion does not
// finish is another question, which the backend may answer.
func NotAsked(va *storagev1.VolumeAttachment) evidence.Answer {
	if denied := Denied(va); denied.Yes() {
		return denied
	}
	if va.DeletionTimestamp != nil {
		return evidence.Unseen(evidence.Lack{Need: "why the deletion of VolumeAttachment " + va.Name + " does not finish", Node: va.Spec.NodeName, Why: "the attacher says nothing"})
	}
	return evidence.Yes()
}
