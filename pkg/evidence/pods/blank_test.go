package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestBlank: a container that was never made has no log, though the registrar beside it runs; one that ended has.
func TestBlank(t *testing.T) {
	t.Parallel()
	waits := func(name, reason string, restarts int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: restarts, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	runs := corev1.ContainerStatus{Name: "registrar", Ready: true, ContainerID: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	for name, c := range map[string]struct {
		all  []corev1.ContainerStatus
		want bool
	}{
		"it cannot be made":        {[]corev1.ContainerStatus{runs, waits("driver", "CreateContainerError", 0)}, true},
		"it ends again and again":  {[]corev1.ContainerStatus{runs, waits("driver", "CrashLoopBackOff", 3)}, false},
		"it is being made":         {[]corev1.ContainerStatus{runs, waits("driver", "ContainerCreating", 0)}, false},
		"only the registrar waits": {[]corev1.ContainerStatus{waits("registrar", "ImagePullBackOff", 0)}, false},
	} {
		if got := Blank(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: c.all}}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
