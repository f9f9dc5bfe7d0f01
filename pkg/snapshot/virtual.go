package snapshot

import corev1 "k8s.io/api/core/v1"

// Virtual names what stands behind a node without a kubelet of its own, or is empty.
func Virtual(n *corev1.Node) string {
	switch {
	case n.Labels["type"] == "virtual-kubelet":
		return "label type=virtual-kubelet"
	case n.Labels["eks.amazonaws.com/compute-type"] == "fargate":
		return "label eks.amazonaws.com/compute-type=fargate"
	case n.Labels["type"] == "kwok" || n.Annotations["kwok.x-k8s.io/node"] != "":
		return "kwok simulates it"
	}
	for _, t := range n.Spec.Taints {
		if t.Key == "virtual-kubelet.io/provider" {
			return "taint virtual-kubelet.io/provider=" + t.Value
		}
	}
	return ""
}

// Windows tells whether a node runs Windows, as its kubelet or its label says.
func Windows(n *corev1.Node) bool {
	system := n.Status.NodeInfo.OperatingSystem
	return system == "windows" || system == "" && n.Labels[corev1.LabelOSStable] == "windows"
}

// VolumeNodes are the names of the nodes of a cluster that may have volumes: machines with
// Linux, and others where the API knows of one.
func (x *Index) VolumeNodes() []string {
	var out []string
	for _, n := range x.Cluster.Nodes {
		if Virtual(n) == "" && !Windows(n) || len(x.VolumesOn(n.Name)) > 0 {
			out = append(out, n.Name)
		}
	}
	return out
}
