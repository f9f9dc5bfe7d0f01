package pods

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// State quotes the phase of a pod with its node, the first container that waits for more
// than its volumes, and its deletion.
func State(pod *corev1.Pod) report.Evidence {
	text := fmt.Sprintf("spec.nodeName %s, status.phase %s", cmp.Or(pod.Spec.NodeName, "empty"), pod.Status.Phase)
	if pod.Status.Reason != "" {
		text += ", " + pod.Status.Reason
	}
	for _, c := range pod.Status.ContainerStatuses {
		if why := snapshot.Hindered(c); why != "" {
			text += ", container " + c.Name + " waiting: " + why
			break
		}
	}
	if pod.DeletionTimestamp != nil {
		text += ", deletionTimestamp " + pod.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	return evidence.FromPod(pod, "", text)
}

// Condition is how a pod does, in the words of its status: its phase, and what its containers wait
// for or ended with.
func Condition(pod *corev1.Pod) string {
	said := evidence.Keep(evidence.Each(snapshot.Statuses(pod), condition), func(s string) bool { return s != "" })
	switch {
	case len(said) > 0:
	case snapshot.PodReady(pod):
		said = []string{"Ready"}
	case snapshot.PodFinished(pod):
	case pod.Spec.NodeName == "":
		said = []string{"not scheduled"}
	default:
		said = []string{"not Ready"}
	}
	return strings.Join(append([]string{string(pod.Status.Phase)}, said...), ", ")
}

// condition is what is to be said of one container; empty for one that is well, and for one that
// prepared the pod and is done.
func condition(c corev1.ContainerStatus) string {
	said := ""
	switch s := c.State; {
	case s.Waiting != nil:
		said = "container " + c.Name + " is waiting: " + s.Waiting.Reason
		if outOfMemory(c) {
			said += " after " + oomKilled
		}
	case s.Terminated != nil && s.Terminated.ExitCode == 0 && c.Ready:
		return ""
	case s.Terminated != nil:
		said = fmt.Sprintf("container %s ended: %s, exit code %d", c.Name, s.Terminated.Reason, s.Terminated.ExitCode)
	case !c.Ready:
		said = "container " + c.Name + " is not ready"
	case c.RestartCount > 0:
		return fmt.Sprintf("container %s restarted %d times", c.Name, c.RestartCount)
	}
	if said != "" && c.RestartCount > 0 {
		said += fmt.Sprintf(", %d restarts", c.RestartCount)
	}
	return said
}

// States quotes several pods.
func States(list []*corev1.Pod) []report.Evidence {
	return evidence.Each(list, State)
}

// Name is a pod as kubectl names it in all namespaces.
func Name(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// WhoseMount names the pod at whose path a volume is mounted.
func WhoseMount(x *snapshot.Index, m snapshot.VolumeMount) string {
	switch pod := x.PodByUID(m.Path.PodUID); {
	case pod != nil:
		return "pod " + Name(pod) + " (volume " + cmp.Or(m.Path.PV, m.Path.Volume) + ")"
	case m.Path.PodUID != "":
		return "a pod that is gone (UID " + m.Path.PodUID + ")"
	}
	return "the staged volume"
}

// Where says which node a pod is on and for how long it has existed.
func Where(x *snapshot.Index, pod *corev1.Pod) string {
	return fmt.Sprintf("pod %s on node %s (%s old)", Name(pod), pod.Spec.NodeName, Ago(x, pod.CreationTimestamp.Time))
}

// Began is when the newest container of a pod began to run: one that restarts takes its
// children with it while its pod keeps its age.
func Began(pod *corev1.Pod) time.Time {
	var last time.Time
	for _, c := range pod.Status.ContainerStatuses {
		if r := c.State.Running; r != nil && r.StartedAt.After(last) {
			last = r.StartedAt.Time
		}
	}
	if last.IsZero() && pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return last
}

// Ago says how long something has lasted.
func Ago(x *snapshot.Index, at time.Time) string {
	if at.IsZero() {
		return "an unknown time"
	}
	return evidence.Duration(x.Age(at))
}

// Deleting says for how long an object has been deleted and is still there; empty: it is not.
func Deleting(x *snapshot.Index, o metav1.Object) string {
	if d := o.GetDeletionTimestamp(); d != nil {
		return Ago(x, d.Time)
	}
	return ""
}
