package provision

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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
