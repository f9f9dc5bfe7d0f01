package longhorn

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestWhyEnds wants a log or last words of a pod that ends again and again.
func TestWhyEnds(t *testing.T) {
	t.Parallel()
	crashing := corev1.ContainerStatus{Name: "c", RestartCount: 41, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}
	told := crashing
	told.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Message: "please install iscsiadm"}
	quiet := []snapshot.Log{{Namespace: "lh", Pod: "m", Container: "c", Lines: []string{"started"}}}
	for name, c := range map[string]struct {
		status corev1.ContainerStatus
		logs   []snapshot.Log
		want   string
	}{
		"works":                {corev1.ContainerStatus{Name: "c", Ready: true}, nil, "yes"},
		"ends, nothing read":   {crashing, nil, "unseen"},
		"ends, told the API":   {told, nil, "yes"},
		"ends, its log is dry": {crashing, quiet, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Logs: c.logs})
			pod := &corev1.Pod{ObjectMeta: named("m"), Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c.status}}}
			if got := WhyEnds(x, pod).String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
