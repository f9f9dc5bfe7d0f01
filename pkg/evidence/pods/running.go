package pods

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Runs tells whether a container of the pod runs, by the pod's status.
func Runs(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running != nil })
}

// RanAt tells whether a container that runs has run since before a moment, such as that at
// which its node was looked at: what was not seen there says nothing about a pod that
// started meanwhile. A time that is not known is no objection.
func RanAt(pod *corev1.Pod, at time.Time) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil && (at.IsZero() || s.State.Running.StartedAt.IsZero() || s.State.Running.StartedAt.Time.Before(at))
	})
}

// Started tells whether any container of a pod was ever started.
func Started(pod *corev1.Pod) bool {
	return slices.ContainsFunc(snapshot.Statuses(pod), func(s corev1.ContainerStatus) bool {
		return s.RestartCount > 0 || s.ContainerID != "" || s.LastTerminationState.Terminated != nil
	})
}

// linger is how long after its end a pod may still be there without meaning.
const linger = time.Minute

// Overdue tells whether a pod should have ended by now: deleted, and a minute over its
// grace period. metadata.deletionTimestamp already contains the grace.
func Overdue(x *snapshot.Index, pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && x.Age(pod.DeletionTimestamp.Time) > linger
}

// CannotStart tells whether a container waits to be created, or failed and waits for its
// next start.
func CannotStart(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(snapshot.Statuses(pod), func(s corev1.ContainerStatus) bool {
		return s.Name == container && (s.State.Waiting != nil || s.State.Terminated != nil && s.State.Terminated.ExitCode != 0)
	})
}

// EndedContainers are the ids of the pod's containers that have ended, without the
// runtime's name in front.
func EndedContainers(pod *corev1.Pod) []string {
	var out []string
	for _, s := range snapshot.Statuses(pod) {
		if _, id, ok := strings.Cut(s.ContainerID, "://"); ok && id != "" && s.State.Terminated != nil {
			out = append(out, id)
		}
	}
	return out
}

// Owned names a pod and the workload above it: "pod monitoring/agent-x of DaemonSet
// monitoring/agent".
func Owned(x *snapshot.Index, pod *corev1.Pod) string {
	o := x.TopOwner(pod)
	if o.Pod || o.Name == "" || o.Name == pod.Name && o.Kind == "Pod" {
		return "pod " + Name(pod)
	}
	return "pod " + Name(pod) + " of " + o.String()
}

// Within says where a process is to be found, for an aside: its PID, container and workload.
func Within(x *snapshot.Index, p *probes.Process, who snapshot.Who) string {
	out := "PID " + strconv.Itoa(p.PID)
	if who.Container != "" {
		out += ", container " + who.Container
	}
	if who.Pod != nil {
		_, owner, _ := strings.Cut(Owned(x, who.Pod), " of ")
		out += strings.TrimSuffix(", "+owner, ", ")
	}
	return out
}

// Ended asks whether no container of a pod is left on a node: the pod is unknown, has
// finished, or is over its grace period without a running container, and no process there
// carries its UID.
func Ended(x *snapshot.Index, on, uid string) evidence.Answer {
	pod := x.PodByUID(uid)
	if pod != nil && !snapshot.PodFinished(pod) && (!Overdue(x, pod) || Runs(pod)) {
		return evidence.No(phase(pod))
	}
	return Over(x, on, uid)
}
