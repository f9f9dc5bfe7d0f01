package holder

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// UnreadNodes finds the nodes that could not be read and that the node lifecycle controller
// marks as lost on a pod of the volume, with that pod.
func UnreadNodes(x *snapshot.Index, v *snapshot.Volume) []Lost {
	var out []Lost
	for _, c := range v.Terminating() {
		if MarkedLost(x, c.Pod).Yes() {
			out = append(out, Lost{Name: c.Node(), Volume: v, Pods: liveOn(v, c.Node()), Waiters: WaitersAway(v, c.Node()), Marked: c.Pod, x: x})
		}
	}
	return out
}

// MarkedLost asks, where its Node could not be read, whether the node lifecycle controller
// left its mark of a lost node on a pod that is being deleted: Ready False although every
// container is ready (MarkPodsNotReady in pkg/controller/util/node), the reason NodeLost of
// older versions, or the controller's event.
func MarkedLost(x *snapshot.Index, pod *corev1.Pod) evidence.Answer {
	name := pods.Object(pod)
	if on := pod.Spec.NodeName; on == "" || pod.DeletionTimestamp == nil || x.Node(on) != nil || evidence.Resource(x, "/nodes").Complete() {
		return evidence.No()
	}
	if pod.Status.Reason == "NodeLost" || pod.Status.Phase == corev1.PodUnknown {
		return evidence.Yes(evidence.FromAPI(name, "status", fmt.Sprintf("phase %s reason %s", pod.Status.Phase, pod.Status.Reason)))
	}
	for _, e := range x.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "NodeNotReady" {
			return evidence.Yes(evidence.FromEvent(name, e))
		}
	}
	for _, c := range pod.Status.Conditions {
		before := c.LastTransitionTime.Time.Before(pod.DeletionTimestamp.Add(-time.Minute))
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && c.Reason == "" && allReady(pod) && before {
			return evidence.Yes(evidence.FromAPI(name, "status.conditions[Ready]", "False since "+c.LastTransitionTime.UTC().Format(time.RFC3339)+" while every container is ready"))
		}
	}
	return evidence.No()
}

func allReady(pod *corev1.Pod) bool {
	if slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return !c.Ready }) {
		return false
	}
	return len(pod.Status.ContainerStatuses) > 0
}
