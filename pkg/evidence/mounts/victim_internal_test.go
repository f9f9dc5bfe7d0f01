package mounts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestRefused: a pod whose phase outlived a reboot waits when a container of it was not made.
func TestRefused(t *testing.T) {
	t.Parallel()
	waiting := func(reason string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, c := range map[string]struct {
		states []corev1.ContainerState
		want   bool
	}{
		"no container yet":           {nil, false},
		"it runs":                    {[]corev1.ContainerState{running}, false},
		"it is being made":           {[]corev1.ContainerState{waiting("ContainerCreating")}, true},
		"it could not be made":       {[]corev1.ContainerState{running, waiting("CreateContainerError")}, true},
		"it crashes, so it was made": {[]corev1.ContainerState{waiting("CrashLoopBackOff")}, false},
		"its image is not there":     {[]corev1.ContainerState{waiting("ImagePullBackOff")}, false},
	} {
		pod := &corev1.Pod{}
		for _, s := range c.states {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: s})
		}
		if got := refused(pod); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
