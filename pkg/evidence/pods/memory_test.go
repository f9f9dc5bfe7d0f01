package pods_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
)

// TestOutOfMemory: a container that the kernel ended for its memory, while it does not run.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state string
		want  bool
	}{
		"waits for its next start": {"state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {reason: OOMKilled, exitCode: 137}}", true},
		"has just ended":           {"state: {terminated: {reason: OOMKilled, exitCode: 137}}", true},
		"ended otherwise since":    {"state: {terminated: {reason: Error, exitCode: 1}}, lastState: {terminated: {reason: OOMKilled, exitCode: 137}}", false},
		"runs again":               {"state: {running: {}}, lastState: {terminated: {reason: OOMKilled, exitCode: 137}}", false},
		"killed by somebody":       {"state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {reason: Error, exitCode: 137}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := sketch.New("{apiVersion: v1, kind: Pod, metadata: {namespace: csi, name: plugin-1}, spec: {nodeName: n1}, status: {phase: Running, containerStatuses: [{name: driver, " + c.state + "}]}}").Index(t)
			pod := x.Pod("csi", "plugin-1")
			if got := pods.OutOfMemory(pod) == "driver"; got != c.want {
				t.Errorf("out of memory: %t", got)
			}
			if said := pods.Doing(x, pod); c.want && !strings.Contains(said, "OOMKilled") {
				t.Error(said)
			}
		})
	}
}
