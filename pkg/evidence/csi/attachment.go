package csi

import (
	"slices"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fresh is how long an error of the attacher speaks of the present: it tries again at
// least every five minutes.
const fresh = 10 * time.Minute

func vaObject(va *storagev1.VolumeAttachment) string { return "VolumeAttachment " + va.Name }

// GoesFor asks whether an attachment has been going away for at least a time while the
// attacher's finalizer keeps it.
func GoesFor(x *snapshot.Index, va *storagev1.VolumeAttachment, least time.Duration) evidence.Answer {
	d := va.DeletionTimestamp
	if d == nil || x.Age(d.Time) < least {
		return evidence.No()
	}
	for _, f := range va.Finalizers {
		if strings.HasPrefix(f, "external-attacher/") {
			return evidence.Yes(evidence.FromAPI(vaObject(va), "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339)),
				evidence.FromAPI(vaObject(va), "metadata.finalizers", f))
		}
	}
	return evidence.No()
}

// AttachedFor asks whether the API has called a volume attached for longer than a time,
// and nobody takes it away.
func AttachedFor(x *snapshot.Index, va *storagev1.VolumeAttachment, least time.Duration) evidence.Answer {
	return evidence.When(va.Status.Attached && va.DeletionTimestamp == nil && x.Age(va.CreationTimestamp.Time) > least,
		evidence.FromAPI(vaObject(va), "spec.nodeName "+va.Spec.NodeName+" status.attached", "true"))
}

// Going asks whether some attachment of a volume is to be undone and is not.
func Going(pl *evidence.Place) evidence.Answer {
	for _, va := range pl.Volume.Attachments {
		if d := va.DeletionTimestamp; d != nil {
			return evidence.Yes(evidence.FromAPI(vaObject(va), "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339)))
		}
	}
	return evidence.Not(evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing())
}

// DetachFails asks whether the detach of an attachment that goes away was tried and
// failed lately. Without an error it is open whether anybody tries.
func DetachFails(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	e, d := va.Status.DetachError, va.DeletionTimestamp
	if e == nil || d == nil || !e.Time.After(d.Time) || x.Age(e.Time.Time) > fresh {
		return evidence.Unseen(evidence.Lack{Need: "a fresh detachError of VolumeAttachment " + va.Name, Node: va.Spec.NodeName, Why: "there is none"})
	}
	return evidence.Yes(evidence.FromAPI(vaObject(va), "status.detachError", e.Message))
}

// RefusedWhileGoing asks whether somebody says that the attachment cannot be used because
// it is being deleted.
func RefusedWhileGoing(pl *evidence.Place, node string) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Is(message.AttachmentBeingDeleted) && (t.Node == "" || t.Node == node)
	})
}

// WantedOn asks whether a pod that shall run waits for a volume on a node.
func WantedOn(pl *evidence.Place, node string) evidence.Answer {
	return pl.Consumers().Found(evidence.Phases(pl.Volume.WaitingOn(node))...)
}

// AttachRefused are the fresh texts in which the attacher's driver refuses to attach a
// volume to a node, in its own words; none while the volume is attached there.
func AttachRefused(pl *evidence.Place, node string) []evidence.Text {
	if va := pl.Volume.AttachmentOn(node); va != nil && va.Status.Attached {
		return nil
	}
	return evidence.Keep(pl.Refused(), func(t evidence.Text) bool {
		return t.Attaches() && (t.Node == "" || t.Node == node) && !slices.ContainsFunc(nobody, t.Is)
	})
}
