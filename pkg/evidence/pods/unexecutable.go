package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NotExecuted is a container that could not execute a program, and a volume of it that is mounted
// with noexec.
type NotExecuted struct {
	Container string
	Volume    *snapshot.Volume
	Point     string
	Is        evidence.Answer // the mount forbids it, and the container failed so
}

// NotExecutedIn finds them: execve(2) says EACCES for a program on a mount with noexec, of which a
// shell makes the exit code 126.
func NotExecutedIn(pl *evidence.Place) []NotExecuted {
	var out []NotExecuted
	for _, cs := range snapshot.Statuses(pl.Pod) {
		said, failed := notExecuted(pl.Pod, cs)
		if !failed {
			continue
		}
		for _, v := range pl.X.VolumesOfPod(pl.Pod) {
			for _, m := range pl.X.VolumeMounts(v, pl.Node) {
				if m.Path.PodUID != string(pl.Pod.UID) || !m.Mount.HasOption("noexec") || !mountedIn(pl.Pod, cs.Name, v) {
					continue
				}
				out = append(out, NotExecuted{Container: cs.Name, Volume: v, Point: m.Mount.Point,
					Is: evidence.Yes(said, evidence.FromMount(pl.Node, nil, m.Mount))})
			}
		}
	}
	return out
}

// notExecuted quotes the end of a container's present or last run that says that a program could
// not be executed.
func notExecuted(pod *corev1.Pod, cs corev1.ContainerStatus) (said report.Evidence, is bool) {
	for _, t := range []*corev1.ContainerStateTerminated{cs.State.Terminated, cs.LastTerminationState.Terminated} {
		if t != nil && cs.State.Running == nil && (t.ExitCode == 126 || strings.Contains(t.Message, "exec") && strings.Contains(t.Message, "permission denied")) {
			return evidence.FromPod(pod, "status.containerStatuses["+cs.Name+"] terminated", strings.TrimSpace(fmt.Sprintf("exit code %d %s", t.ExitCode, t.Message))), true
		}
	}
	return said, false
}

// mountedIn tells whether a container has a volume.
func mountedIn(pod *corev1.Pod, container string, v *snapshot.Volume) bool {
	for k := range snapshot.Containers(pod) {
		for _, m := range k.VolumeMounts {
			if k.Name == container && slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool { return c.Pod == pod && c.Volume == m.Name }) {
				return true
			}
		}
	}
	return false
}
