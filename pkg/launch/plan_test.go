package launch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var now = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

func nodeOf(name string, ready corev1.ConditionStatus, change func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	n.Status.NodeInfo.Architecture, n.Status.NodeInfo.OperatingSystem = "arm64", "linux"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "NodeStatusUnknown",
		Message: "Kubelet stopped posting node status.", LastTransitionTime: metav1.NewTime(now.Add(-14 * time.Minute))}}
	if change != nil {
		change(n)
	}
	return n
}

// TestUnreachable: nodes that no pod can look at are gaps at once.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		node   *corev1.Node
		reason string
		detail string
	}{
		{"ready", nodeOf("n", corev1.ConditionTrue, nil), "", ""},
		{"stopped", nodeOf("n", corev1.ConditionUnknown, nil), snapshot.NodeNotReady,
			"the node's kubelet stopped reporting 14m ago: NodeStatusUnknown Kubelet stopped posting node status."},
		{"windows", nodeOf("n", corev1.ConditionTrue, func(n *corev1.Node) { n.Status.NodeInfo.OperatingSystem = "windows" }),
			snapshot.Unsupported, "the node runs Windows; the agent knows Linux only"},
		{"virtual kubelet", nodeOf("n", corev1.ConditionTrue, func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "virtual-kubelet.io/provider", Value: "azure"}}
		}), snapshot.Unsupported, "the node is no machine: taint virtual-kubelet.io/provider=azure"},
		{"fargate", nodeOf("n", corev1.ConditionTrue, func(n *corev1.Node) { n.Labels["eks.amazonaws.com/compute-type"] = "fargate" }),
			snapshot.Unsupported, "the node is no machine: label eks.amazonaws.com/compute-type=fargate"},
		{"gone", nodeOf("other", corev1.ConditionTrue, nil), snapshot.NodeNotReady, "no node of this name exists any more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot.Snapshot{TakenAt: now}
			s.Cluster.Nodes = []*corev1.Node{test.node}
			plan := NewPlan(snapshot.NewIndex(s), Question{Kind: "node", Name: "n"}, Options{})
			var want []snapshot.Gap
			if test.reason != "" {
				want = []snapshot.Gap{{Need: "node/n", Reason: test.reason, Detail: test.detail}}
			}
			if diff := cmp.Diff(want, plan.Gaps); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
			if len(plan.Targets) != 1-len(want) {
				t.Errorf("targets: %+v", plan.Targets)
			}
		})
	}
}

// TestNodesForbidden: who may not read nodes may still be allowed to try.
func TestNodesForbidden(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{TakenAt: now, Gaps: []snapshot.Gap{{Need: "api//nodes", Reason: snapshot.Forbidden}}}
	plan := NewPlan(snapshot.NewIndex(s), Question{Kind: "node", Name: "n"}, Options{})
	if len(plan.Targets) != 1 || plan.Targets[0].Arch != "" || plan.Place.Namespace != "kube-system" {
		t.Errorf("plan: %+v", plan)
	}
}
