// Package holder answers questions about who has a volume, as the API says it, and who
// waits for it: the machine that it is attached to, two pods that want one volume, a
// node that keeps it and does not report.
package holder

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Attachment is one node that the API says has a volume, with what says so.
type Attachment struct {
	Node  string
	VA    *storagev1.VolumeAttachment // nil for in-tree volumes, which have only node status
	Facts []report.Evidence
}

// Attachments lists the nodes that have a volume attached by a VolumeAttachment or by
// Node.status.volumesAttached, in the order of their names.
func Attachments(x *snapshot.Index, v *snapshot.Volume) []Attachment {
	var out []Attachment
	for _, va := range v.Attachments {
		if va.Status.Attached {
			out = append(out, Attachment{va.Spec.NodeName, va, []report.Evidence{AttachedFact(va)}})
		}
	}
	for _, n := range x.AttachedNodes(v) {
		listed := evidence.FromAPI("Node "+n, "status.volumesAttached", v.UniqueName())
		if i := slices.IndexFunc(out, func(a Attachment) bool { return a.Node == n }); i >= 0 {
			out[i].Facts = append(out[i].Facts, listed)
			continue
		}
		out = append(out, Attachment{Node: n, Facts: []report.Evidence{listed}})
	}
	slices.SortStableFunc(out, func(a, b Attachment) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// On is what ties a volume to a node in the API.
func On(x *snapshot.Index, v *snapshot.Volume, node string) (Attachment, bool) {
	for _, a := range Attachments(x, v) {
		if a.Node == node {
			return a, true
		}
	}
	return Attachment{}, false
}

// AttachedFact quotes the state of an attachment.
func AttachedFact(va *storagev1.VolumeAttachment) report.Evidence {
	text := "false"
	if va.Status.Attached {
		text = "true"
	}
	return evidence.FromAPI("VolumeAttachment "+va.Name, "spec.nodeName "+va.Spec.NodeName+" status.attached", text)
}

// WaitersAway are the pods that wait for a volume on another node. A pod whose own node
// has it already waits for something else, unless it is a share that a node serves.
func WaitersAway(v *snapshot.Volume, node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, c := range v.Waiting() {
		n := c.Node()
		if n == "" || n == node {
			continue
		}
		if va := v.AttachmentOn(n); !v.RegularRWX() && va != nil && va.Status.Attached && va.DeletionTimestamp == nil {
			continue
		}
		out = append(out, c.Pod)
	}
	return out
}

// KeptAway tells whether another node still has a volume that only one may have: before it has left there, nobody
// acts on this one, and what is missing here holds up none of that.
func KeptAway(v *snapshot.Volume, node string) bool {
	return v != nil && v.Exclusive() && slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool {
		return va.Spec.NodeName != node && va.Status.Attached
	})
}

// Waiters are the pods that wait for a volume, with or without a node.
func Waiters(v *snapshot.Volume) []*corev1.Pod {
	return evidence.Each(v.Waiting(), func(c *snapshot.Consumer) *corev1.Pod { return c.Pod })
}

// WaitersOn are the pods that wait for a volume on a node.
func WaitersOn(v *snapshot.Volume, node string) []*corev1.Pod {
	return evidence.Each(v.WaitingOn(node), func(c *snapshot.Consumer) *corev1.Pod { return c.Pod })
}

// liveOn are the pods of a volume on a node that have not finished, also those that are
// being deleted.
func liveOn(v *snapshot.Volume, node string) []*corev1.Pod {
	return evidence.Each(v.LiveConsumersOn(node), func(c *snapshot.Consumer) *corev1.Pod { return c.Pod })
}

// Going keeps the pods that are being deleted.
func Going(pods []*corev1.Pod) []*corev1.Pod {
	return evidence.Keep(pods, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
}
