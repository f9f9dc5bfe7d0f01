package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// LastWords is what a pod said before one of its containers ended: the fatal or last
// error line of the last run, unparsed, else of the present one, else what the kubelet
// kept of it; of a container that cannot be made, and of a pod that never began, what keeps it from that.
func LastWords(x *snapshot.Index, pod *corev1.Pod) report.Evidence {
	all := snapshot.Statuses(pod)
	for _, c := range all {
		if w := c.State.Waiting; w != nil && strings.HasSuffix(w.Reason, "Error") && w.Message != "" { // not of an image: the message counts attempts
			return evidence.FromPod(pod, "status.containerStatuses["+c.Name+"].state.waiting.message", w.Message)
		}
	}
	line, last := logged(x, pod, all)
	if line.Text != "" {
		return line
	}
	for _, c := range all {
		if t := c.LastTerminationState.Terminated; t != nil && t.Message != "" {
			return evidence.FromPod(pod, "status.containerStatuses["+c.Name+"].lastState.terminated.message", t.Message)
		}
	}
	if last.Text != "" {
		return last
	}
	if said := x.Events("Pod", pod.Namespace, pod.Name); !Started(pod) { // nothing of it can have said anything
		for _, e := range slices.Backward(said) {
			if e.Type == corev1.EventTypeWarning && x.Fresh(e, pod.CreationTimestamp.Time) {
				return evidence.FromEvent(Object(pod), e)
			}
		}
	}
	return report.Evidence{}
}

// logged is the fatal or last error line of a pod's logs, and the last line of a run that failed, which may
// have no such form.
func logged(x *snapshot.Index, pod *corev1.Pod, all []corev1.ContainerStatus) (line, last report.Evidence) {
	for _, previous := range []bool{true, false} {
		for _, l := range x.LogsOf(pod.Namespace, pod.Name) {
			if l.Previous != previous {
				continue
			}
			said := func(i int) report.Evidence { return evidence.Line{Log: &l, Number: i + 1, Text: l.Lines[i]}.Evidence() }
			if i := worst(l.Lines); i >= 0 {
				return said(i), last
			} else if n := len(l.Lines); previous && n > 0 && failed(all, l.Container) {
				last = said(n - 1)
			}
		}
	}
	return line, last
}

// failed tells whether the last run of a container ended with an error.
func failed(all []corev1.ContainerStatus, container string) bool {
	return slices.ContainsFunc(all, func(c corev1.ContainerStatus) bool {
		t := c.LastTerminationState.Terminated
		return c.Name == container && t != nil && t.ExitCode != 0 && t.Reason != oomKilled
	})
}

// How a line says that its program ends, and that something failed: logfmt and JSON
// levels, klog (F0302, E0302), a panic of Go, and a bare word at the beginning.
var (
	fatalLine = pattern.MustCompile(`(?i)level=(?:fatal|panic)|"level": ?"(?:fatal|panic)"|\bFATAL\b|^panic: |` + `(?-i)(?:^|\s)F\d{4} \d\d:`)
	errorLine = pattern.MustCompile(`(?i)level="?error|"level": ?"error"|^\W*(?:\S+ ){0,3}\[?error\b|\berror: ` + `|(?-i)(?:^|\s)E\d{4} \d\d:`)
)

// worst is the number of the last fatal line, else of the last error.
func worst(lines []string) int {
	failed := -1
	for i, line := range slices.Backward(lines) {
		switch {
		case fatalLine.MatchString(line):
			return i
		case failed < 0 && errorLine.MatchString(line):
			failed = i
		}
	}
	return failed
}

// Restless tells whether a container of a pod is not ready, or was started again within
// the hour: then what its last run said counts.
func Restless(x *snapshot.Index, pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		t := c.LastTerminationState.Terminated
		return !c.Ready || t != nil && x.Age(t.FinishedAt.Time) < time.Hour
	})
}

// Hindrance names the first container that cannot be made, and why; empty where none says so. One that only
// waits at the socket of another (a registrar, a liveness probe) ends because that one does, and is named where no other is.
func Hindrance(pod *corev1.Pod) string {
	beside := ""
	for _, c := range snapshot.Statuses(pod) {
		if why := snapshot.Hindered(c); why != "" {
			why = "its container " + c.Name + " waits: " + why + ended(c)
			if !Beside(c.Name) {
				return why
			}
			beside = cmp.Or(beside, why)
		}
	}
	return beside
}

// Beside tells whether a container of a node plugin only waits at the driver's socket: the registrar, and who asks for its health.
func Beside(container string) bool { return evidence.ContainsAny(container, "registrar", "liveness") }

// Blank tells whether a container of a node plugin cannot be made and never ran, whatever runs beside it: it has no log.
func Blank(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return snapshot.Hindered(c) != "" && c.RestartCount == 0 && c.LastTerminationState.Terminated == nil && !Beside(c.Name)
	})
}

// Unbegun is a container of a pod that waits for nothing that is said (ContainerCreating, PodInitializing); empty: none.
func Unbegun(pod *corev1.Pod) string {
	for _, c := range snapshot.Statuses(pod) {
		if c.State.Waiting != nil && snapshot.Hindered(c) == "" {
			return c.Name
		}
	}
	return ""
}

// ended is how a container that starts again and again ended last.
func ended(c corev1.ContainerStatus) string {
	if t := c.LastTerminationState.Terminated; t != nil && c.State.Waiting.Reason == "CrashLoopBackOff" {
		return fmt.Sprintf(" after %s, exit code %d", t.Reason, t.ExitCode)
	}
	return ""
}

// Unread says of a container that starts again and again what it said at its end, or that nobody looked: a program that
// may not write to its volume says so in its own log, which no question reads.
func Unread(x *snapshot.Index, pod *corev1.Pod) string {
	for _, c := range snapshot.Statuses(pod) {
		switch t := c.LastTerminationState.Terminated; {
		case t == nil || snapshot.Hindered(c) == "":
		case t.Message != "":
			return ": " + evidence.Brief(t.Message)
		case len(x.LogsOf(pod.Namespace, pod.Name)) == 0:
			return " (its own log was not read)"
		}
	}
	return ""
}

// Doing says how old a pod is and how it does, behind its name.
func Doing(x *snapshot.Index, pod *corev1.Pod) string {
	return "is " + evidence.Duration(x.Age(pod.CreationTimestamp.Time)) + " old: " + Condition(pod)
}

// oomKilled is the reason of a container that the kernel ended for its memory; its own log has no word of it.
const oomKilled = "OOMKilled"

// OutOfMemoryRun tells whether the kernel ended a container's run for its memory.
func OutOfMemoryRun(t *corev1.ContainerStateTerminated) bool {
	return t != nil && t.Reason == oomKilled
}

// OutOfMemory names a container of a pod that does not run, as the kernel ended it for its memory; empty if there is none.
func OutOfMemory(pod *corev1.Pod) string {
	for _, c := range pod.Status.ContainerStatuses {
		if outOfMemory(c) {
			return c.Name
		}
	}
	return ""
}

func outOfMemory(c corev1.ContainerStatus) bool {
	for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
		if t != nil && c.State.Running == nil {
			return OutOfMemoryRun(t)
		}
	}
	return false
}
