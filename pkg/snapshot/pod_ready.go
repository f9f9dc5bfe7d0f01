package snapshot

import corev1 "k8s.io/api/core/v1"

// PodReady tells whether the pod's condition Ready is true.
func PodReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// PodServes tells whether a pod is Ready and stays: one that is being deleted is taken
// out of its Services and ends soon.
func PodServes(pod *corev1.Pod) bool { return PodReady(pod) && pod.DeletionTimestamp == nil }
