package snapshot

import (
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// PodReady tells whether the pod's condition Ready is true.
func PodReady(pod *corev1.Pod) bool {
	return PodCondition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// PodCondition is a condition of a pod; one that it does not have is empty.
func PodCondition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	if i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind }); i >= 0 {
		return pod.Status.Conditions[i]
	}
	return corev1.PodCondition{}
}

// PodProvided is when the kubelet of a pod had all of its volumes: it makes the sandbox,
// and starts the first container, only then (SyncPod in pkg/kubelet/kubelet.go; KEP-3085).
// Of a pod that does not tell, or whose containers were started again, it is zero.
func PodProvided(pod *corev1.Pod) time.Time {
	var first time.Time
	for _, c := range Statuses(pod) {
		if c.RestartCount > 0 || c.LastTerminationState.Terminated != nil {
			return time.Time{}
		}
		if at := startOf(c); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if k := PodCondition(pod, corev1.PodReadyToStartContainers); first.IsZero() && k.Status == corev1.ConditionTrue {
		return k.LastTransitionTime.Time
	}
	return first
}

// PodBegun tells whether a pod has its sandbox now, or a container that runs, and so all of its volumes.
func PodBegun(pod *corev1.Pod) bool {
	if k := PodCondition(pod, corev1.PodReadyToStartContainers); k.Status != "" {
		return k.Status == corev1.ConditionTrue
	}
	return slices.ContainsFunc(Statuses(pod), func(c corev1.ContainerStatus) bool { return c.State.Running != nil })
}

// startOf is when a container was started that runs or has ended; zero of one that waits.
func startOf(c corev1.ContainerStatus) time.Time {
	switch {
	case c.State.Running != nil:
		return c.State.Running.StartedAt.Time
	case c.State.Terminated != nil:
		return c.State.Terminated.StartedAt.Time
	}
	return time.Time{}
}

// PodStarted is when the last of a pod's containers was started: what kept one of them from
// being made before is past. It is zero while one waits.
func PodStarted(pod *corev1.Pod) time.Time {
	var last time.Time
	for _, c := range pod.Status.ContainerStatuses {
		at := startOf(c)
		if at.IsZero() {
			return time.Time{}
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

// beforeSandbox are the reasons of events that tell why a pod does not get its volumes.
var beforeSandbox = []string{"FailedMount", "FailedMapVolume", "FailedAttachVolume", "FailedMountOnFilesystemMismatch"}

// BeforeSandbox tells whether an event with this reason says why a pod does not get its volumes.
func BeforeSandbox(reason string) bool { return slices.Contains(beforeSandbox, reason) }

// PodAsksSince is from when an event of the kubelet or its runtime with this reason speaks
// of the present: the pod's creation, or when it got what the reason is about.
func PodAsksSince(pod *corev1.Pod, reason string) time.Time {
	since, got := pod.CreationTimestamp.Time, time.Time{}
	switch {
	case BeforeSandbox(reason):
		got = PodProvided(pod)
	case reason == "Failed":
		got = PodStarted(pod)
	}
	if got.After(since) {
		return got
	}
	return since
}

// HasAddress tells whether a node has an address, or a host name, in its status.
func HasAddress(n *corev1.Node, address string) bool {
	return slices.ContainsFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Address == address })
}

// GivesOut tells whether an address is of a node's range for its pods.
func GivesOut(n *corev1.Node, addr netip.Addr) bool {
	return slices.ContainsFunc(append([]string{n.Spec.PodCIDR}, n.Spec.PodCIDRs...), func(cidr string) bool {
		p, err := netip.ParsePrefix(cidr)
		return err == nil && p.Contains(addr)
	})
}

// PodServes tells whether a pod is Ready and stays: one that is being deleted is taken
// out of its Services and ends soon.
func PodServes(pod *corev1.Pod) bool { return PodReady(pod) && pod.DeletionTimestamp == nil }

// Hindered is why a container waits that is not merely being made, such as ImagePullBackOff; empty
// for one that runs, has ended, or waits for its volumes.
func Hindered(c corev1.ContainerStatus) string {
	if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
		return w.Reason
	}
	return ""
}

// PodFinished tells whether a pod has ended for good.
func PodFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
