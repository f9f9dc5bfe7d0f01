package longhorn

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const (
	upgrade   = 5 * time.Minute // managers that restart during an upgrade
	shortRun  = 2 * time.Minute // a manager that ends sooner, again and again, never served
	manyStart = 3
)

// Managers are the longhorn-manager pods on nodes that are Ready.
func Managers(x *snapshot.Index) []*corev1.Pod {
	return evidence.Keep(x.PodsIn(x.LonghornNamespace()), func(pod *corev1.Pod) bool {
		return pod.Labels["app"] == "longhorn-manager" && x.NodeReady(pod.Spec.NodeName).Ready
	})
}

// ManagerOn is the longhorn-manager of a node, or nil.
func ManagerOn(x *snapshot.Index, node string) *corev1.Pod {
	return evidence.First(x.PodsOn(node), func(pod *corev1.Pod) bool {
		return pod.Namespace == x.LonghornNamespace() && pod.Labels["app"] == "longhorn-manager" && pod.DeletionTimestamp == nil
	})
}

// notReadySince tells since when a pod has not been Ready.
func notReadySince(pod *corev1.Pod) (time.Time, bool) {
	if c := snapshot.PodCondition(pod, corev1.PodReady); c.Type != "" {
		return c.LastTransitionTime.Time, c.Status != corev1.ConditionTrue
	}
	if slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return !c.Ready }) {
		return pod.CreationTimestamp.Time, true
	}
	return time.Time{}, false
}

// loops tells whether a pod ends again and again, whatever it says this second: at least
// three restarts, and the last run was short and is not long ago. how is empty when not.
func loops(x *snapshot.Index, pod *corev1.Pod) (how string) {
	for _, c := range snapshot.Statuses(pod) {
		if c.RestartCount < manyStart {
			continue
		}
		if c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff" || c.State.Terminated != nil && !c.Ready {
			return Trouble(pod)
		}
		last, run := c.LastTerminationState.Terminated, c.State.Running
		if last == nil || run == nil || last.FinishedAt.Sub(last.StartedAt.Time) >= shortRun || x.Age(run.StartedAt.Time) >= shortRun {
			continue
		}
		return fmt.Sprintf("container %s ends again and again: %d restarts, the last run lasted %s, this one has lasted %s", c.Name, c.RestartCount,
			evidence.Duration(last.FinishedAt.Sub(last.StartedAt.Time)), evidence.Duration(x.Age(run.StartedAt.Time)))
	}
	return ""
}

// works tells whether a pod is Ready and does not end again and again.
func works(x *snapshot.Index, pod *corev1.Pod) bool {
	_, sick := notReadySince(pod)
	return !sick && loops(x, pod) == ""
}

// Trouble is the first reason for which a container of a pod does not run.
func Trouble(pod *corev1.Pod) string {
	for _, c := range snapshot.Statuses(pod) {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "":
			return fmt.Sprintf("container %s is waiting: %s, %d restarts", c.Name, c.State.Waiting.Reason, c.RestartCount)
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			return fmt.Sprintf("container %s ended with exit code %d", c.Name, c.State.Terminated.ExitCode)
		}
	}
	return "phase " + string(pod.Status.Phase)
}

// Fails asks whether a pod of Longhorn does not work: it has not been Ready for longer
// than an upgrade takes, or ends again and again.
func Fails(x *snapshot.Index, pod *corev1.Pod) (how string, a evidence.Answer) {
	name := "Pod " + pod.Namespace + "/" + pod.Name
	if how := loops(x, pod); how != "" {
		return how, evidence.Yes(evidence.FromAPI(name, "status.containerStatuses", how))
	}
	since, sick := notReadySince(pod)
	if !sick || x.Age(since) <= upgrade {
		return "", evidence.No()
	}
	return Trouble(pod), evidence.Yes(evidence.FromAPI(name, "status.conditions[Ready]", "not True: "+Trouble(pod)))
}

// WhyEnds asks whether it can be known why a pod ends again and again: its last words are
// there, or its log was read and has none. A program that its node lacks ends it as well
// as a fault of its own.
func WhyEnds(x *snapshot.Index, pod *corev1.Pod) evidence.Answer {
	if loops(x, pod) == "" {
		return evidence.Yes()
	}
	if last := pods.LastWords(x, pod); last.Text != "" {
		return evidence.Yes(last)
	}
	return evidence.Log(x, pod.Namespace, pod.Name).Nothing()
}

// NoManager asks whether none of the managers on Ready nodes works. first is one of them, if possible one
// that says why it ends: they end for one reason, and the logs of all are seldom kept.
func NoManager(x *snapshot.Index) (first *corev1.Pod, how string, a evidence.Answer) {
	all := Managers(x)
	var facts []report.Evidence
	for _, pod := range all {
		why, fails := Fails(x, pod)
		if !fails.Yes() {
			return nil, "", evidence.No()
		}
		if first == nil || loops(x, pod) != "" && pods.LastWords(x, first).Text == "" && pods.LastWords(x, pod).Text != "" {
			first, how = pod, why
		}
		facts = append(facts, fails.Facts()...)
	}
	if first == nil {
		return nil, "", evidence.No()
	}
	return first, how, evidence.ResourceIn(x, "/pods", x.LonghornNamespace()).Nothing(facts...)
}

// Stale tells whether what Longhorn's objects say of the instances of a node may be of yesterday:
// no manager works, or not the node's own, and nobody else writes it.
func Stale(x *snapshot.Index, node string) bool {
	if _, _, nobody := NoManager(x); !nobody.No() {
		return true
	}
	pod := ManagerOn(x, node)
	if pod == nil {
		return false
	}
	_, fails := Fails(x, pod)
	return fails.Yes()
}

// NoneWorks says that none of the managers works.
func NoneWorks(x *snapshot.Index) string {
	n := len(Managers(x))
	if n == 1 {
		return "its only longhorn-manager pod on a Ready node does not work"
	}
	return fmt.Sprintf("none of its %d longhorn-manager pods on Ready nodes works", n)
}

// managerAway tells why the longhorn-manager of a node cannot act, or nothing.
func managerAway(x *snapshot.Index, node string) string {
	if n := x.LHNode(node); n != nil {
		if c, ok := n.Conditions.Get("Ready"); ok && c.Status == "False" {
			return c.Reason
		}
	}
	return ""
}
