package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// PodReady tells whether the pod's condition Ready is true.
func PodReady(pod *corev1.Pod) bool {
	return PodCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// PodCondition is a condition of a pod; one that it does not have is empty.
func PodCondition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	if i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind }); i >= 0 {
		return pod.Status.Conditions[i]
	}
	return corev1.PodCondition{}
}

// HasAddress tells whether a node has an address, or a host name, in its status.
func HasAddress(n *corev1.Node, address string) bool {
	return slices.ContainsFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Address == address })
}

// PodServes tells whether a pod is Ready and stays: one that is being deleted is taken
// out of its Services and ends soon.
func PodServes(pod *corev1.Pod) bool { return PodReady(pod) && pod.DeletionTimestamp == nil }
