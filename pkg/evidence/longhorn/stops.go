package longhorn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
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
	runs := 0
	for _, r := range v.Longhorn.Replicas {
		switch {
		case r.NodeID == "" || r.FailedAt != "" || r.DesireState != "running":
		case r.CurrentState == "running":
			runs++
		default:
			wait = append(wait, fmt.Sprintf("%s on node %s is %s", r.Name, r.NodeID, orNone(r.CurrentState)))
			facts = append(facts, evidence.FromAPI("Replica "+r.Name, "status.currentState", orNone(r.CurrentState)+", wanted is running"))
			facts = append(facts, saidOf(x, r.NodeID, r.InstanceManager, r.Name)...)
		}
	}
	switch {
	case len(wait) > 0 && runs == 0:
		return "Longhorn stops at the replicas: none that is to run does (" + strings.Join(wait, "; ") + ").", facts
	case e.DesireState != "running":
		return "", nil
	case e.CurrentState != "running":
		return fmt.Sprintf("Longhorn stops at the engine: %s on node %s is %s, while replicas run (%d of %d).", e.Name, orNone(e.NodeID), orNone(e.CurrentState), runs, runs+len(wait)),
			append([]report.Evidence{evidence.FromAPI("Engine "+e.Name, "status.currentState", orNone(e.CurrentState)+", wanted is running")}, saidOf(x, e.NodeID, e.InstanceManager, e.Name)...)
	}
	i, _ := InitiatorOf(x, v)
	return fmt.Sprintf("Longhorn stops at the block device: %s %s is %s without an endpoint.", i.Kind, i.Name, orNone(i.State)),
		append([]report.Evidence{evidence.FromAPI(i.Kind+" "+i.Name, "status.endpoint", "none")}, saidOf(x, i.Node, i.Manager, i.Name)...)
}

// saidOf are the newest lines about an instance of the manager that runs it and of the
// longhorn-manager of its node, one each; a complaint before work as usual.
func saidOf(x *snapshot.Index, node, manager, instance string) []report.Evidence {
	pods := []string{manager}
	for _, im := range x.InstanceManagersOn(node) {
		if manager == "" {
			pods = append(pods, im.Name) // one that was stopped has no manager any more
		}
	}
	if m := ManagerOn(x, node); m != nil {
		pods = append(pods, m.Name)
	}
	var out []report.Evidence
	for _, pod := range pods {
		var found report.Evidence
		for _, l := range x.LogsOf(x.LonghornNamespace(), pod) {
			for i, line := range slices.Backward(l.Lines) {
				if !strings.Contains(line, instance) || found.Text != "" && message.Ordinary(line) {
					continue
				}
				found = report.Evidence{Source: "log", Locator: fmt.Sprintf("logs/%s/%s/%s:%d", l.Namespace, l.Pod, l.Container, i+1), Text: line}
				if !message.Ordinary(line) {
					break
				}
			}
		}
		if found.Text != "" {
			out = append(out, found)
		}
	}
	return out
}
