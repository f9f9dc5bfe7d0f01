package launch

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mayBeAnywhere tells whether a volume that a pod waits for, or whose filesystem fails its
// pod, may still be held on a node of which the API keeps no trace, for nobody attaches it through
// VolumeAttachments: an in-tree disk (RBD, iSCSI, FC), whose modes make its filesystem none for two
// nodes, or an exclusive volume of a driver without attachRequired that is no share. The node of the
// former pod is forgotten with the pod.
func mayBeAnywhere(x *snapshot.Index, v *snapshot.Volume) bool {
	if v.PV == nil || len(v.Waiting()) == 0 && !failsPod(x, v) || v.AttachRequired(x) {
		return false
	}
	s := v.PV.Spec
	server, _ := v.NFSServer()
	return s.RBD != nil || s.ISCSI != nil || s.FC != nil || v.Exclusive() && server == "" && (s.CSI != nil || s.FlexVolume != nil)
}

// failsPod tells whether a pod of the volume said lately that its filesystem is closed or
// damaged: a second node that writes to it does that.
func failsPod(x *snapshot.Index, v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool {
		return slices.ContainsFunc(x.Events("Pod", c.Pod.Namespace, c.Pod.Name), func(e *snapshot.Event) bool {
			low := strings.ToLower(e.Message)
			return x.Fresh(e, time.Time{}) && slices.ContainsFunc([]string{"read-only file system", "structure needs cleaning", "input/output error"},
				func(w string) bool { return strings.Contains(low, w) })
		})
	})
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
