package provision

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// podState is why a pod is not Ready, in the words of its status.
func podState(pod *corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			return fmt.Sprintf("%s, container %s: %s (%d restarts)", pod.Status.Phase, s.Name, s.State.Waiting.Reason, s.RestartCount)
		case s.State.Terminated != nil:
			return fmt.Sprintf("%s, container %s ended: %s, exit code %d", pod.Status.Phase, s.Name, s.State.Terminated.Reason, s.State.Terminated.ExitCode)
		}
	}
	if pod.Spec.NodeName == "" {
		return string(pod.Status.Phase) + ", not scheduled"
	}
	if ok, _ := ready(pod); !ok {
		return string(pod.Status.Phase) + ", not Ready, on node " + pod.Spec.NodeName
	}
	return string(pod.Status.Phase) + ", Ready, on node " + pod.Spec.NodeName
}

// ownVolume is the kubelet's newest complaint that a pod's own volume does not come: it waits in
// ContainerCreating, and wrote no line yet. Zero: none.
func ownVolume(x *snapshot.Index, pod *corev1.Pod) report.Evidence {
	var newest *snapshot.Event
	for _, e := range x.Events("Pod", pod.Namespace, pod.Name) {
		if pod.Status.Phase == corev1.PodPending && (e.Reason == "FailedMount" || e.Reason == "FailedAttachVolume") && e.ObjUID == string(pod.UID) && (newest == nil || e.Last.After(newest.Last)) {
			newest = e
		}
	}
	if newest == nil {
		return report.Evidence{}
	}
	return report.Evidence{Source: "event", Locator: "Event Pod " + pod.Namespace + "/" + pod.Name + " " + newest.Reason, Text: newest.Message}
}
