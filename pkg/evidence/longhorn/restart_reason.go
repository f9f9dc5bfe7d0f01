package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// restartReason says why an instance-manager ended, as far as it is known: what the
// container's last state says, the limits of its cgroup, events, then the boot of its node.
func restartReason(x *snapshot.Index, im *snapshot.LHInstanceManager, boot string, bootFact report.Evidence, facts []report.Evidence) (string, []report.Evidence) {
	var reasons []string
	say := func(reason string, e report.Evidence) {
		if reason != "" && !slices.Contains(reasons, reason) {
			reasons, facts = append(reasons, reason), append(facts, e)
		}
	}
	name, pod := im.Namespace+"/"+im.Name, x.Pod(im.Namespace, im.Name)
	if pod != nil {
		for _, c := range pod.Status.ContainerStatuses {
			if t := c.LastTerminationState.Terminated; t != nil && t.Reason != "" {
				say(fmt.Sprintf("its container was terminated: %s (exit code %d)", t.Reason, t.ExitCode), evidence.FromAPI("Pod "+name, "status.containerStatuses[].lastState.terminated", t.Reason))
			}
		}
		say(limitReached(x.View(im.NodeID), string(pod.UID)))
	}
	for _, e := range x.Events("Pod", im.Namespace, im.Name) {
		switch e.Reason {
		case "Unhealthy", "Killing", "Evicted", "Preempted", "Preempting":
			say(strings.ToLower(e.Reason)+": "+e.Message, evidence.FromEvent("Pod "+name, e))
		}
	}
	say(priorityDiffers(x, pod))
	say(boot, bootFact)
	if len(reasons) == 0 {
		return "Why it ended is open.", facts
	}
	return "Why: " + strings.Join(reasons, "; ") + ".", facts
}

// priorityDiffers tells whether Longhorn replaces its instance-managers again and again: a
// default priority class of the cluster lands on their pods, and Longhorn's setting is
// empty. All of them are then equally young.
func priorityDiffers(x *snapshot.Index, pod *corev1.Pod) (string, report.Evidence) {
	setting, known := x.Setting("priority-class")
	if pod == nil || pod.Status.StartTime == nil || !known || strings.TrimSpace(setting) != "" || pod.Spec.PriorityClassName == "" || x.Age(pod.Status.StartTime.Time) > time.Hour {
		return "", report.Evidence{}
	}
	young := 0
	for _, im := range x.Cluster.Longhorn.InstanceManagers {
		at := startOf(x, im)
		if at.IsZero() || at.Sub(pod.Status.StartTime.Time).Abs() > 10*time.Minute {
			return "", report.Evidence{}
		}
		young++
	}
	if young < 2 {
		return "", report.Evidence{}
	}
	return fmt.Sprintf("all %d instance-managers of the cluster are equally young, their pods have priority class %s (a default of the cluster: a PriorityClass with globalDefault true), and Longhorn's setting priority-class is empty, so it replaces them again and again",
		young, pod.Spec.PriorityClassName), evidence.FromPod(pod, "spec.priorityClassName", pod.Spec.PriorityClassName)
}

// booted tells whether the machine itself was started shortly before.
func booted(x *snapshot.Index, node string, at time.Time) (string, report.Evidence) {
	view := x.View(node)
	if view == nil || view.Facts.Identity.Uptime == 0 {
		return "", report.Evidence{}
	}
	boot := view.Facts.Identity.Boot()
	if at.Before(boot) || at.Sub(boot) > 10*time.Minute {
		return "", report.Evidence{}
	}
	when := boot.UTC().Format(time.RFC3339)
	return "node " + node + " was booted at " + when, evidence.FromNode(node, "@clock", "booted "+when)
}

// limitReached looks at the pod's cgroup for the PID limit and the memory limit
// (Documentation/admin-guide/cgroup-v2.rst).
func limitReached(view *snapshot.NodeView, uid string) (string, report.Evidence) {
	if view == nil || uid == "" {
		return "", report.Evidence{}
	}
	for _, path := range slices.Sorted(maps.Keys(view.Facts.Files)) {
		if !strings.HasPrefix(path, "sys/fs/cgroup/") || !evidence.ContainsAny(path, uid, strings.ReplaceAll(uid, "-", "_")) {
			continue
		}
		text := strings.TrimSpace(view.Facts.Files[path].Content)
		dir := path[:strings.LastIndexByte(path, '/')]
		switch {
		case strings.HasSuffix(path, "/pids.events") && counter(text, "max") > 0:
			limit := strings.TrimSpace(view.Facts.Files[dir+"/pids.max"].Content)
			return fmt.Sprintf("its pod reached the PID limit (podPidsLimit, pids.max %s) %d times", limit, counter(text, "max")), evidence.FromNode(view.Name, path, text)
		case strings.HasSuffix(path, "/memory.events") && counter(text, "oom_kill") > 0:
			return fmt.Sprintf("the kernel killed a process of it for memory (oom_kill %d)", counter(text, "oom_kill")), evidence.FromNode(view.Name, path, text)
		}
	}
	return "", report.Evidence{}
}

// counter reads one line "name number" of a cgroup events file.
func counter(text, name string) int {
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}
