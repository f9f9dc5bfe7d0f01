package attach

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// attachment is one node that the API says has a volume, with what says so.
type attachment struct {
	Node     string
	VA       *storagev1.VolumeAttachment // nil for in-tree volumes, which have only node status
	Evidence []report.Evidence
}

// attachments lists the nodes that have the volume attached by a VolumeAttachment
// or by Node.status.volumesAttached, in the order of their names.
func attachments(p *diagnosis.Pass, v *snapshot.Volume) []attachment {
	var out []attachment
	for _, va := range v.Attachments {
		if va.Status.Attached {
			out = append(out, attachment{Node: va.Spec.NodeName, VA: va, Evidence: []report.Evidence{attachedEvidence(va)}})
		}
	}
	for _, n := range p.AttachedNodes(v) {
		ev := diagnosis.FromAPI("Node "+n, "status.volumesAttached", v.UniqueName())
		i := slices.IndexFunc(out, func(a attachment) bool { return a.Node == n })
		if i >= 0 {
			out[i].Evidence = append(out[i].Evidence, ev)
			continue
		}
		out = append(out, attachment{Node: n, Evidence: []report.Evidence{ev}})
	}
	slices.SortStableFunc(out, func(a, b attachment) int { return compare(a.Node, b.Node) })
	return out
}

// attachedOn tells whether the API says that a node has the volume.
func attachedOn(p *diagnosis.Pass, v *snapshot.Volume, node string) (attachment, bool) {
	for _, a := range attachments(p, v) {
		if a.Node == node {
			return a, true
		}
	}
	return attachment{}, false
}

func attachedEvidence(va *storagev1.VolumeAttachment) report.Evidence {
	text := "false"
	if va.Status.Attached {
		text = "true"
	}
	return diagnosis.FromAPI("VolumeAttachment "+va.Name, "spec.nodeName "+va.Spec.NodeName+" status.attached", text)
}

// waitersAwayFrom returns the pods that wait for the volume on another node. A pod
// whose own node has an exclusive volume already waits for something else.
func waitersAwayFrom(v *snapshot.Volume, node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, c := range v.Waiting() {
		n := c.Pod.Spec.NodeName
		if n == "" || n == node || c.Pod.DeletionTimestamp != nil {
			continue
		}
		if va := v.AttachmentOn(n); v.Exclusive() && va != nil && va.Status.Attached && va.DeletionTimestamp == nil {
			continue
		}
		out = append(out, c.Pod)
	}
	return out
}

// waitersOn returns the pods that wait for the volume on a node.
func waitersOn(v *snapshot.Volume, node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, c := range v.Waiting() {
		if c.Pod.Spec.NodeName == node && c.Pod.DeletionTimestamp == nil {
			out = append(out, c.Pod)
		}
	}
	return out
}

// unfinishedOn returns the pods of the volume on a node that have not finished,
// also those that are being deleted.
func unfinishedOn(v *snapshot.Volume, node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, c := range v.Consumers {
		if c.Pod.Spec.NodeName == node && !finished(c.Pod) {
			out = append(out, c.Pod)
		}
	}
	return out
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// deleted keeps the pods that are being deleted.
func deleted(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range pods {
		if p.DeletionTimestamp != nil {
			out = append(out, p)
		}
	}
	return out
}
