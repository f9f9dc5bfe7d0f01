package longhorn

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nodeManagerDown handles one manager that is down on a node which a volume needs:
// Longhorn refuses to attach there, while the other managers work. It tells whether it
// found one.
func nodeManagerDown(p *diagnosis.Pass, v *snapshot.Volume) (found bool) {
	nodes := wantedNodes(v)
	if lh := volumeOf(v); lh != nil && lh.Status.CurrentNodeID != "" && !slices.Contains(nodes, lh.Status.CurrentNodeID) {
		nodes = append(nodes, lh.Status.CurrentNodeID)
	}
	for _, node := range nodes {
		n := p.LHNode(node)
		if n == nil || !nodeWorks(p, node) {
			continue // a node that does not report is another fault
		}
		c, ok := n.Conditions.Get("Ready")
		if !ok || c.Status != "False" || c.Reason != "ManagerPodDown" && c.Reason != "ManagerPodMissing" {
			continue
		}
		pod := managerOn(p, node)
		if pod != nil {
			if since, sick := notReadySince(pod); !sick || p.Age(since) <= upgradeGrace && !crashing(pod) {
				continue // it is back, or restarts
			}
		}
		found = reportNodeManager(p, v, node, c, pod) || found
	}
	return found
}

func managerOn(p *diagnosis.Pass, node string) *corev1.Pod {
	for _, pod := range p.PodsOn(node) {
		if pod.Labels["app"] == "longhorn-manager" && pod.DeletionTimestamp == nil {
			return pod
		}
	}
	return nil
}

func reportNodeManager(p *diagnosis.Pass, v *snapshot.Volume, node string, c snapshot.Condition, pod *corev1.Pod) bool {
	subject, state := diagnosis.ObjectSubject("Service", p.LonghornNamespace(), backendService), "there is no longhorn-manager pod on it"
	if pod != nil {
		subject, state = diagnosis.PodSubject(pod), "its longhorn-manager pod "+pod.Name+" is not Ready: "+waitingReason(pod)
	}
	f := p.Find(report.Certain, subject).On(v).Located(node)
	f.Fact(diagnosis.FromAPI("Node.longhorn.io "+node, "status.conditions[Ready]", strings.TrimSpace("False "+c.Reason+" "+c.Message)))
	refused := false
	for _, t := range p.Texts(v) {
		if t.Fresh && strings.Contains(t.Raw, "node "+node+" is not ready, couldn't attach volume") {
			f.Fact(t.Evidence())
			refused = true
			break
		}
	}
	switch {
	case !refused && pod == nil:
		return false // what keeps its pod off the node keeps the plugin off, too: that is the cause
	case !refused:
		f.Missing("a fresh refusal to attach the volume to node " + node)
	}
	f.Sayf("Longhorn calls node %s not ready (%s), because %s. So it does not attach volume %s there, although the other managers work.", node, c.Reason, state, volumeOf(v).Name)
	f.Unless("a Ready longhorn-manager pod on node " + node)
	f.Advise(remedy.Words(fmt.Sprintf("Read the last log of the longhorn-manager on node %s and cure what it says; leave webhook configurations and custom resource definitions alone. Verify: Longhorn's condition Ready of node %s is True.", node, node)))
	p.Report(f)
	return true
}
