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

func podOf(namespace, name, node, image string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	p.Spec.NodeName, p.Spec.Containers = node, []corev1.Container{{Name: "c", Image: image}}
	p.Status.Phase = corev1.PodRunning
	return p
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
	if len(plan.Targets) != 1 || plan.Targets[0].Arch != "" || plan.Namespace != "kube-system" {
		t.Errorf("plan: %+v", plan)
	}
}

// TestImages: Longhorn's own image first, then others with a shell, then the default.
func TestImages(t *testing.T) {
	t.Parallel()
	manager := podOf("longhorn-system", "longhorn-manager-x", "n", "registry.example.com:5000/rancher/mirrored-longhornio-longhorn-manager:v1.8.1")
	manager.Labels = map[string]string{"app": "longhorn-manager"}
	manager.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	ceph := podOf("rook-ceph", "csi-rbdplugin-x", "n", "quay.io/cephcsi/cephcsi@sha256:abc")
	stopped := podOf("shop", "job", "n", "busybox:1.36")
	stopped.Status.Phase = corev1.PodSucceeded
	distroless := podOf("kube-system", "csi-attacher", "n", "registry.k8s.io/sig-storage/csi-attacher:v4.8.0")
	elsewhere := podOf("shop", "web", "m", "alpine:3.20")
	withImages := nodeOf("n", corev1.ConditionTrue, func(n *corev1.Node) {
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"docker.io/library/nginx@sha256:1", "docker.io/library/nginx:1.27"}}}
	})
	for _, test := range []struct {
		name string
		pods []*corev1.Pod
		node *corev1.Node
		o    Options
		want []candidate
	}{
		{"longhorn, ceph", []*corev1.Pod{ceph, manager}, nodeOf("n", corev1.ConditionTrue, nil), Options{}, []candidate{
			{Image: "registry.example.com:5000/rancher/mirrored-longhornio-longhorn-manager:v1.8.1", Secrets: []string{"registry"}},
			{Image: "quay.io/cephcsi/cephcsi@sha256:abc"}, {Image: DefaultImage}}},
		{"nothing with a shell runs here", []*corev1.Pod{stopped, distroless, elsewhere}, nodeOf("n", corev1.ConditionTrue, nil), Options{},
			[]candidate{{Image: DefaultImage}}},
		{"an image that the node has", nil, withImages, Options{}, []candidate{{Image: "docker.io/library/nginx:1.27"}, {Image: DefaultImage}}},
		{"the user's", []*corev1.Pod{manager}, withImages, Options{Image: "own:1"}, []candidate{{Image: "own:1"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot.Snapshot{TakenAt: now}
			s.Cluster.Pods, s.Cluster.Nodes = test.pods, []*corev1.Node{test.node}
			s.Cluster.Sort()
			got := images(snapshot.NewIndex(s), "n", "longhorn-system", test.o)
			for i := range got {
				got[i].rank = 0
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(candidate{})); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
