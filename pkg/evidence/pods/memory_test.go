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

// TestCondition says in words what a pod's status says.
func TestCondition(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"phase: Pending":   "Pending, not scheduled",
		"phase: Succeeded": "Succeeded",
		"phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: a, ready: true, state: {running: {}}}]":                                          "Running, Ready",
		"phase: Running, containerStatuses: [{name: a, ready: true, restartCount: 2, state: {running: {}}}]":                                                                      "Running, container a restarted 2 times",
		"phase: Running, containerStatuses: [{name: a, ready: true, state: {running: {}}}, {name: b, restartCount: 7, state: {waiting: {reason: CrashLoopBackOff}}}]":             "Running, container b is waiting: CrashLoopBackOff, 7 restarts",
		"phase: Running, containerStatuses: [{name: a, state: {running: {}}}]":                                                                                                    "Running, container a is not ready",
		"phase: Failed, containerStatuses: [{name: a, state: {terminated: {reason: Error, exitCode: 1}}}]":                                                                        "Failed, container a ended: Error, exit code 1",
		"phase: Pending, initContainerStatuses: [{name: i, ready: true, state: {terminated: {reason: Completed}}}, {name: j, state: {waiting: {reason: ImagePullBackOff}}}]":      "Pending, container j is waiting: ImagePullBackOff",
		"phase: Failed, initContainerStatuses: [{name: i, state: {terminated: {reason: Error, exitCode: 2}}}], containerStatuses: [{name: a, state: {waiting: {reason: Never}}}]": "Failed, container i ended: Error, exit code 2, container a is waiting: Never",
	} {
		x := sketch.New("{apiVersion: v1, kind: Pod, metadata: {namespace: csi, name: plugin-1}, spec: {}, status: {" + status + "}}").Index(t)
		if got := pods.Condition(x.Pod("csi", "plugin-1")); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}
