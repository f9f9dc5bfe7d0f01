package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SameMachine tells whether two nodes are names of one machine: kubelet registers a node anew when its name changes, and
// leaves the old object. A clone has the system UUID, and another address; a new machine at an old address, another UUID.
func SameMachine(a, b *corev1.Node) bool {
	return a != nil && b != nil && a.Status.NodeInfo.SystemUUID != "" && a.Status.NodeInfo.SystemUUID == b.Status.NodeInfo.SystemUUID &&
		slices.ContainsFunc(a.Status.Addresses, func(i corev1.NodeAddress) bool {
			return i.Type == corev1.NodeInternalIP && i.Address != "" && slices.Contains(b.Status.Addresses, i)
		})
}

// NowCalled is the Ready node as which the machine of a silent one reports; empty if there is none.
func NowCalled(x *snapshot.Index, old string) string {
	was := x.Node(old)
	for _, n := range x.Cluster.Nodes {
		if n.Name != old && SameMachine(was, n) && x.NodeReady(n.Name).Ready {
			return n.Name
		}
	}
	return ""
}
