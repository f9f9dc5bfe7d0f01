package longhorn

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Placed asks whether the share of a volume that is used does not run, while its pod was
// given to a node that works, and gives the state of its ShareManager.
func Placed(x *snapshot.Index, v *snapshot.Volume, pod *corev1.Pod) (state string, a evidence.Answer) {
	state, said := shareState(v)
	_, down := podDown(x, v, state, pod)
	if state == "running" || state == unread && !down || !Used(v) || !nodeWorks(x, pod.Spec.NodeName) {
		return state, evidence.No()
	}
	return state, evidence.Yes(evidence.FromPod(pod, "spec.nodeName", pod.Spec.NodeName), said)
}

// WithoutLonghorn asks which of Longhorn's pods a node does not have.
func WithoutLonghorn(x *snapshot.Index, node string) (lacks []string, a evidence.Answer) {
	ns := x.LonghornNamespace()
	manager := false
	for _, pod := range x.PodsOn(node) {
		manager = manager || pod.Namespace == ns && pod.Labels["app"] == "longhorn-manager"
	}
	if !manager {
		lacks = append(lacks, "longhorn-manager pod")
	}
	if x.DriverPodOn(snapshot.LonghornDriver, node) == nil {
		lacks = append(lacks, "longhorn-csi-plugin pod")
	}
	if len(lacks) == 0 {
		return nil, evidence.No()
	}
	return lacks, evidence.ResourceIn(x, "/pods", ns).Nothing(evidence.FromAPI("Pods of namespace "+ns+" on node "+node, "", "no "+strings.Join(lacks, ", no ")))
}

// Stranger asks whether Longhorn has no object for a node.
func Stranger(x *snapshot.Index, node string) evidence.Answer {
	if x.LHNode(node) != nil {
		return evidence.No()
	}
	return Read(x, "nodes").Nothing(evidence.FromAPI("Nodes of Longhorn", "", "no "+node))
}

// BeingReplaced asks whether the one missing pod may be a DaemonSet's that is just being
// replaced: that leaves Longhorn's node object behind.
func BeingReplaced(x *snapshot.Index, node string, lacks []string) evidence.Answer {
	if len(lacks) > 1 {
		return evidence.No()
	}
	if x.LHNode(node) == nil {
		return evidence.Not(Stranger(x, node))
	}
	return evidence.Unseen(evidence.Lack{Need: "api//pods/" + x.LonghornNamespace(), Node: node, Why: "that the node never had the missing pod (Longhorn knows the node)"})
}

// Selector is the node selector of Longhorn's manager where its helpers have none.
func Selector(x *snapshot.Index) string {
	setting, known := x.Setting("system-managed-components-node-selector")
	if !known || strings.TrimSpace(setting) != "" {
		return ""
	}
	for _, ds := range x.Cluster.DaemonSets {
		if ds.Namespace == x.LonghornNamespace() && ds.Name == "longhorn-manager" && len(ds.Spec.Template.Spec.NodeSelector) > 0 {
			return fmt.Sprint(ds.Spec.Template.Spec.NodeSelector)
		}
	}
	return ""
}
