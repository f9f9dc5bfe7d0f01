package mount

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// runs tells whether a container of the pod runs, by the pod's status.
func runs(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running != nil {
			return true
		}
	}
	return false
}

// containerIDs are the ids of the pod's containers that have ended, without the
// runtime's name in front.
func endedContainers(pod *corev1.Pod) []string {
	var out []string
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			if _, id, ok := strings.Cut(s.ContainerID, "://"); ok && id != "" && s.State.Terminated != nil {
				out = append(out, id)
			}
		}
	}
	return out
}

// cannotStart tells whether a container waits to be created, or failed and waits
// for its next start.
func cannotStart(pod *corev1.Pod, name string) bool {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			if s.Name == name {
				return s.State.Waiting != nil || s.State.Terminated != nil && s.State.Terminated.ExitCode != 0
			}
		}
	}
	return false
}

// overdue tells whether a pod should have ended by now: deleted, and a minute over
// its grace period. metadata.deletionTimestamp already contains the grace.
func overdue(p *diagnosis.Pass, pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	return p.TakenAt.Sub(pod.DeletionTimestamp.Time) > graceOver
}
