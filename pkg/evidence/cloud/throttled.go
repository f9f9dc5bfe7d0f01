// Package cloud answers questions about the backends of storage: do they slow down, do
// they know the machines of the cluster.
package cloud

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fresh is how long an attachError speaks of the present: the attacher tries again at least
// every five minutes.
const fresh = 10 * time.Minute

// Slowed asks for a fresh text of an operation in which the backend says that it takes
// fewer calls (the rate, first-hand).
func Slowed(texts []evidence.Text) evidence.Answer { return said(texts, message.Throttled) }

// StillWorking asks for a fresh text in which the backend says that it works on it. Aborted is the
// driver's own word for a call that it has not ended yet (csi-spec: "operation pending for volume"), and
// says nothing of the backend; older Ceph-CSI says no more while it makes a clone (rook issue 8883).
func StillWorking(texts []evidence.Text) evidence.Answer {
	return evidence.Texts(texts).Say(func(t evidence.Text) bool {
		return t.Fresh && (t.Is(message.StillWorking) || t.Is(message.OtherCall) && t.Code != "Aborted" || t.Is(message.Pending) && (t.Reason == "ProvisioningFailed" || t.Is(message.ProvisionFailed)))
	})
}

// Slow asks whether the backend puts an operation off without a word of a rate; and how: the driver waits by itself
// ("off"), the machine is busy ("machine"), or it works on it ("slow").
func Slow(pl *evidence.Place, texts []evidence.Text) (how string, is evidence.Answer) {
	if off := PutOff(pl, texts); off.Yes() {
		return "off", off
	}
	if busy := MachineBusy(texts); busy.Yes() {
		return "machine", busy
	}
	return "slow", StillWorking(texts)
}

// MachineBusy asks for a fresh text in which the backend puts a volume off until a task of the machine ends.
func MachineBusy(texts []evidence.Text) evidence.Answer { return said(texts, message.MachineBusy) }

// Repeats tells whether somebody who acts said so lately: kube-controller-manager goes on reading out what an attacher
// wrote down that was started anew since and is silent.
func Repeats(x *snapshot.Index, texts []evidence.Text) bool {
	return slices.ContainsFunc(texts, func(t evidence.Text) bool {
		return x.Age(t.At) < fresh && !(t.Aged && t.Component == "attachdetach-controller")
	})
}

// PutOff asks whether the driver says that it puts an operation off by itself, while the
// backend takes no more calls about other attachments of it: why it began to wait is no
// longer in its words (gcp-compute-persistent-disk-csi-driver: pkg/gce-pd-csi-driver/controller.go,
// "due to backoff condition").
func PutOff(pl *evidence.Place, texts []evidence.Text) evidence.Answer {
	off := said(texts, message.PutOff)
	if !off.Yes() {
		return off
	}
	others := pl.X.Memo("cloud.PutOff "+pl.Volume.Driver, func() any { return slowedOthers(pl.X, pl.Volume.Driver) }).(evidence.Answer)
	return evidence.All(off, others)
}

func slowedOthers(x *snapshot.Index, driver string) evidence.Answer {
	for _, va := range x.Cluster.Attachments {
		e := va.Status.AttachError
		if va.Spec.Attacher == driver && e != nil && x.Age(e.Time.Time) < fresh && slices.Contains(message.Parse(e.Message).Kinds, message.Throttled) {
			return evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError.message", e.Message))
		}
	}
	return evidence.No()
}

// CountReached asks whether a text is about a number of volumes, not about calls in a time.
func CountReached(texts []evidence.Text) evidence.Answer {
	return evidence.Texts(texts).Say(func(t evidence.Text) bool {
		return t.Is(message.MaxVolumes) || t.Code == "ResourceExhausted" && !t.Is(message.Throttled)
	})
}

// NamesHolder asks whether the backend says that somebody else has the volume.
func NamesHolder(texts []evidence.Text) evidence.Answer {
	for _, t := range texts {
		low := strings.ToLower(t.Raw)
		if strings.Contains(low, "attached to instance") || strings.Contains(low, "in use by") || strings.Contains(low, "already attached") {
			return evidence.Yes(t.Evidence())
		}
	}
	return evidence.No()
}

func said(texts []evidence.Text, k message.Kind) evidence.Answer {
	return evidence.Texts(texts).Say(func(t evidence.Text) bool { return t.Fresh && t.Is(k) })
}

// OfAttachment are the fresh texts about attaching or detaching through one object.
func OfAttachment(pl *evidence.Place, va *storagev1.VolumeAttachment) []evidence.Text {
	return evidence.Keep(pl.Refused(), func(t evidence.Text) bool {
		return strings.Contains(t.Locator, va.Name) || t.Reason == "FailedAttachVolume" && (t.Node == "" || t.Node == va.Spec.NodeName)
	})
}

// OfClaim are the fresh texts about making the volume that a claim still waits for, about
// enlarging it to what the claim still asks for, or about the attributes that it still wants. A
// driver that went on has said nothing more.
func OfClaim(pl *evidence.Place) []evidence.Text {
	if pl.Volume.Claim == nil {
		return nil
	}
	var out []evidence.Text
	want, _, got := claims.Sizes(pl)
	bound, grown := pl.Volume.Claim.Status.Phase == corev1.ClaimBound, !got.IsZero() && got.Cmp(want) >= 0
	for _, t := range pl.Refused() {
		switch {
		case !bound && (t.Reason == "ProvisioningFailed" || t.Is(message.ProvisionFailed)),
			!grown && (t.Reason == "VolumeResizeFailed" || t.Is(message.ExpandRefused)):
			out = append(out, t)
		}
	}
	if m, wanted := claims.ModificationOf(pl.Volume.Claim); wanted {
		if t, said := m.Complaint(pl.Texts); said && t.Fresh {
			out = append(out, t)
		}
	}
	return out
}

// Lasts asks whether an attachment has been wanted, or going, for over a minute without
// getting there, and since when.
func Lasts(x *snapshot.Index, va *storagev1.VolumeAttachment) (evidence.Answer, time.Time) {
	since := va.CreationTimestamp.Time
	if va.DeletionTimestamp != nil {
		since = va.DeletionTimestamp.Time
	}
	stuck := (!va.Status.Attached || va.DeletionTimestamp != nil) && x.Age(since) > time.Minute
	return evidence.When(stuck, evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.creationTimestamp", since.UTC().Format(time.RFC3339))), since
}

// Began is the first time that one of some texts was said, as far as the events tell.
func Began(x *snapshot.Index, texts []evidence.Text, kind, namespace, name string) time.Time {
	var first time.Time
	for _, e := range x.Events(kind, namespace, name) {
		for _, t := range texts {
			if e.Message == t.Raw && !e.First.IsZero() && (first.IsZero() || e.First.Before(first)) {
				first = e.First
			}
		}
	}
	return first
}
