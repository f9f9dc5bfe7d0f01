package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OnlyPlace is the one node on which a pod that has none could use its volumes, where that node does not report
// and keeps it off by nothing else; nil: there is no such node.
func OnlyPlace(x *snapshot.Index, pod *corev1.Pod) *corev1.Node {
	volumes := x.VolumesOfPod(pod)
	if pod.Spec.NodeName != "" || !slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool { return affinity(v) != nil }) {
		return nil
	}
	var only *corev1.Node
	for _, n := range x.Cluster.Nodes {
		if len(excludedBy(volumes, n)) > 0 {
			continue
		}
		if only != nil {
			return nil
		}
		only = n
	}
	if only == nil || !onlySilent(pod, only) || !evidence.Resource(x, "/nodes").Complete() { // one that was not read may do, too
		return nil
	}
	if r := x.NodeReady(only.Name); !r.Known || r.Ready {
		return nil
	}
	return only
}

// onlySilent tells whether a node keeps a pod off by nothing but the taints that the node controller
// gives to one that does not report, or reports that it is not ready.
func onlySilent(pod *corev1.Pod, n *corev1.Node) bool {
	bare := *n
	bare.Spec.Taints = evidence.Keep(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key != corev1.TaintNodeUnreachable && t.Key != corev1.TaintNodeNotReady
	})
	return Excludes(pod, n) != "" && Excludes(pod, &bare) == ""
}

// missingPlaces names the single nodes that volumes are bound to and that are gone, down or
// cordoned. That one is gone can be said only when all nodes were read.
func missingPlaces(x *snapshot.Index, volumes []*snapshot.Volume) (text string, gone bool) {
	var out []string
	for _, v := range volumes {
		for _, r := range wantedOf([]*snapshot.Volume{v}) {
			if v.PV == nil || r.Key != corev1.LabelHostname || r.Operator != corev1.NodeSelectorOpIn || len(r.Values) != 1 {
				continue
			}
			host := r.Values[0]
			i := slices.IndexFunc(x.Cluster.Nodes, func(n *corev1.Node) bool { return n.Labels[corev1.LabelHostname] == host })
			if i < 0 {
				if evidence.Resource(x, "/nodes").Complete() {
					gone = true
					out = append(out, fmt.Sprintf("No node has the host name label %s that volume %s wants: the node was removed or renamed, or the name is misspelt. The nodes here are called %s.", host, v.PVName(), hostNames(x.Cluster.Nodes)))
				}
				continue
			}
			switch r := x.NodeReady(x.Cluster.Nodes[i].Name); {
			case r.Known && !r.Ready:
				out = append(out, fmt.Sprintf("Node %s, where volume %s lies, is not Ready.", x.Cluster.Nodes[i].Name, v.PVName()))
			case x.Cluster.Nodes[i].Spec.Unschedulable:
				out = append(out, fmt.Sprintf("Node %s, where volume %s lies, is cordoned.", x.Cluster.Nodes[i].Name, v.PVName()))
			}
		}
	}
	return strings.Join(out, " "), gone
}

// hostNames are the host name labels of the nodes, at most six of them.
func hostNames(nodes []*corev1.Node) string {
	var out []string
	for _, n := range nodes {
		if h := n.Labels[corev1.LabelHostname]; h != "" {
			out = append(out, h)
		}
	}
	const shown = 6
	switch n := len(out); {
	case n > shown:
		return strings.Join(out[:shown], ", ") + fmt.Sprintf(" and %d more", n-shown)
	case n > 1:
		return strings.Join(out[:n-1], ", ") + " and " + out[n-1]
	}
	return strings.Join(out, "")
}
