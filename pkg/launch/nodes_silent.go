package launch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mayBeAnywhere tells whether a volume that a pod waits for may still be held on a
// node of which the API keeps no trace: an exclusive one that nobody attaches
// through VolumeAttachments (in-tree RBD, iSCSI and FC, drivers without
// attachRequired). The node of the former pod is forgotten with the pod.
func mayBeAnywhere(x *snapshot.Index, v *snapshot.Volume) bool {
	if v.PV == nil || !v.Exclusive() || len(v.Waiting()) == 0 || v.AttachRequired(x) {
		return false
	}
	s := v.PV.Spec
	return s.RBD != nil || s.ISCSI != nil || s.FC != nil || s.CSI != nil || s.FlexVolume != nil
}

// elsewhere are all nodes that could have such a volume, where they are few
// enough to be looked at in one go.
func elsewhere(x *snapshot.Index, v *snapshot.Volume) []string {
	if !mayBeAnywhere(x, v) {
		return nil
	}
	var out []string
	for _, n := range x.Cluster.Nodes {
		if reachableFrom(v.PV, n) {
			out = append(out, n.Name)
		}
	}
	if len(out) > parallel {
		return nil
	}
	slices.Sort(out)
	return out
}

// reachableFrom tells whether the volume's own affinity allows the node.
func reachableFrom(pv *corev1.PersistentVolume, n *corev1.Node) bool {
	a := pv.Spec.NodeAffinity
	return a == nil || a.Required == nil || snapshot.NodeMatches(a.Required, n)
}
