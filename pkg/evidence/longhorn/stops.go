package longhorn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Stops says where Longhorn's own work at an attach stops: at the replicas, which come
// first, at the engine, or at the block device; with what the components that act there
// said last. Empty: it is done, or was not begun.
func Stops(x *snapshot.Index, v *snapshot.Volume) (says string, facts []report.Evidence) {
	lh, e := v.LH(), x.EngineActive(v)
	if lh == nil || e == nil || lh.Status.State == "detached" || x.BlockDeviceUp(v) {
		return "", nil
	}
	var wait []string
	var said []report.Evidence // of replicas that run: what they lack the engine cannot start without
	runs := 0
	for _, r := range v.Longhorn.Replicas {
		switch {
		case r.NodeID == "" || r.FailedAt != "" || r.DesireState != "running":
		case r.CurrentState == "running":
			runs++
			if e, ok := complaint(x, r.InstanceManager, r.Name); ok && len(said) == 0 {
				said = append(said, e)
			}
		default:
			wait = append(wait, fmt.Sprintf("%s on node %s is %s", r.Name, r.NodeID, OrNone(r.CurrentState)))
			facts = append(facts, evidence.FromAPI("Replica "+r.Name, "status.currentState", OrNone(r.CurrentState)+", wanted is running"))
			facts = append(facts, saidOf(x, r.NodeID, r.InstanceManager, r.Name)...)
		}
	}
	switch {
	case len(wait) > 0 && runs == 0:
		return "Longhorn stops at the replicas: none that is to run does (" + strings.Join(wait, "; ") + ").", facts
	case e.DesireState != "running":
		return "", nil
	case e.CurrentState != "running":
		if says, sick := noManagerFor(x, e.NodeID); says != "" {
			return "Longhorn stops at the instance-manager: " + says + ", so engine " + e.Name + " is not started.", sick
		}
		state := []report.Evidence{evidence.FromAPI("Engine "+e.Name, "status.currentState", OrNone(e.CurrentState)+", wanted is running")}
		return fmt.Sprintf("Longhorn stops at the engine: %s on node %s is %s, while replicas run (%d of %d).", e.Name, OrNone(e.NodeID), OrNone(e.CurrentState), runs, runs+len(wait)),
			slices.Concat(state, saidOf(x, e.NodeID, e.InstanceManager, e.Name), said)
	}
	i, _ := InitiatorOf(x, v)
	return fmt.Sprintf("Longhorn stops at the block device: %s %s is %s without an endpoint.", i.Kind, i.Name, OrNone(i.State)),
		append([]report.Evidence{evidence.FromAPI(i.Kind+" "+i.Name, "status.endpoint", "none")}, saidOf(x, i.Node, i.Manager, i.Name)...)
}

// noManagerFor says why no instance-manager of a node could run something: none runs, and which
// pods would be it. Empty: one runs, or nobody knows.
func noManagerFor(x *snapshot.Index, node string) (says string, facts []report.Evidence) {
	var why []string
	for _, im := range x.InstanceManagersOn(node) {
		if im.CurrentState == "running" {
			return "", nil
		}
		facts = append(facts, evidence.FromAPI("InstanceManager "+im.Name, "status.currentState", OrNone(im.CurrentState)))
		said := im.Name + " on node " + node + " is " + OrNone(im.CurrentState)
		if pod := x.Pod(im.Namespace, im.Name); pod != nil {
			state := pods.Condition(pod)
			if why, ok := pods.Unscheduled(pod); ok {
				state += ": " + why
			}
			said += " (its pod: " + state + ")"
			facts = append(facts, evidence.FromPod(pod, "status", state))
		}
		why = append(why, said)
	}
	return strings.Join(why, "; "), facts
}

// saidOf are the newest complaints about an instance of the manager that runs it and of
// the longhorn-manager of its node, one each.
func saidOf(x *snapshot.Index, node, manager, instance string) []report.Evidence {
	pods := runners(x, node, manager)
	if m := ManagerOn(x, node); m != nil {
		pods = append(pods, m.Name)
	}
	var out []report.Evidence
	for _, pod := range pods {
		if e, ok := complaint(x, pod, instance); ok {
			out = append(out, e)
		}
	}
	return out
}

// runners are the instance-managers in which an instance of a node ran: one that was stopped has none any more.
func runners(x *snapshot.Index, node, manager string) []string {
	if manager != "" {
		return []string{manager}
	}
	return evidence.Each(x.InstanceManagersOn(node), func(im *snapshot.LHInstanceManager) string { return im.Name })
}

// complaint is the newest line of a pod of Longhorn about an instance that is not work as usual.
func complaint(x *snapshot.Index, pod, instance string) (report.Evidence, bool) {
	for l := range evidence.Lines(x.LogsOf(x.LonghornNamespace(), pod)) {
		if strings.Contains(l.Text, instance) && !message.Ordinary(l.Text) {
			return l.Evidence(), true
		}
	}
	return report.Evidence{}, false
}

// EngineSaid is the last fresh complaint of a volume's engine, whose lines stand below its name in the log of an
// instance-manager: why it takes no replica, or does not start, is said nowhere else (longhorn issue 10308).
func EngineSaid(x *snapshot.Index, v *snapshot.Volume) []report.Evidence {
	if v.Longhorn == nil {
		return nil
	}
	for _, e := range v.Longhorn.Engines {
		for _, im := range x.Cluster.Longhorn.InstanceManagers {
			for l := range evidence.Lines(x.LogsOf(im.Namespace, im.Name)) {
				said, own := strings.CutPrefix(l.Text, "["+e.Name+"] ")
				if at := message.Date(said, x.TakenAt); own && !l.Previous && message.Complains(said) && !at.IsZero() && x.Age(at) < freshFor {
					return []report.Evidence{l.Evidence()}
				}
			}
		}
	}
	return nil
}

// EngineWords is that complaint for a sentence: its error, where it names one.
func EngineWords(x *snapshot.Index, v *snapshot.Volume) string {
	said := EngineSaid(x, v)
	if len(said) == 0 {
		return ""
	}
	if m := engineError.FindStringSubmatch(said[0].Text); m != nil {
		return evidence.Brief(strings.ReplaceAll(m[1], `\"`, `"`))
	}
	return evidence.Brief(said[0].Text)
}

var engineError = pattern.MustCompile(`error="((?:[^"\\]|\\.)+)"`)
