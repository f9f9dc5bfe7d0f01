package snapshot

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Containers are those of a pod, the initial ones first. They are not copied: each is large,
// and a sweep asks every pod.
func Containers(pod *corev1.Pod) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// Statuses are those of a pod's containers, the initial ones first.
func Statuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// AnyContainer tells whether one of a pod's containers is so.
func AnyContainer(pod *corev1.Pod, is func(*corev1.Container) bool) bool {
	for c := range Containers(pod) {
		if is(c) {
			return true
		}
	}
	return false
}
