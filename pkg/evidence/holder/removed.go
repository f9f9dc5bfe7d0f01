package holder

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// KeptFrom are the pods that an attachment keeps from a volume that only one node may have.
func KeptFrom(x *snapshot.Index, v *snapshot.Volume, va *storagev1.VolumeAttachment) []*corev1.Pod {
	if v == nil || !volume.OneNode(x, v) {
		return nil
	}
	return WaitersAway(v, va.Spec.NodeName)
}

// UsedBeside tells whether the volume is attached to another node and its pod lives there, while
// an attachment keeps nobody from it.
func UsedBeside(x *snapshot.Index, v *snapshot.Volume, va *storagev1.VolumeAttachment) bool {
	return v != nil && len(KeptFrom(x, v, va)) == 0 && slices.ContainsFunc(v.Attachments, func(o *storagev1.VolumeAttachment) bool {
		return o != va && o.Status.Attached && o.DeletionTimestamp == nil && len(v.LiveConsumersOn(o.Spec.NodeName)) > 0
	})
}

// NodeGone asks whether the node of an attachment has no Node object any more.
func NodeGone(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	if x.Node(va.Spec.NodeName) != nil {
		return evidence.No()
	}
	return evidence.Resource(x, "/nodes").Nothing(evidence.FromAPI("Nodes", "", "collected; none is named "+va.Spec.NodeName))
}

// Traceless asks whether nothing else of an attachment's node is left: its CSINode, which every kubelet makes and which
// goes with the Node (ownerReferences), and its pods.
func Traceless(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	n := va.Spec.NodeName
	if x.CSINode(n) != nil || len(x.PodsOn(n)) > 0 || len(x.Cluster.CSINodes) == 0 {
		return evidence.No()
	}
	return evidence.Resources(x, "/pods", "storage.k8s.io/csinodes").Nothing(evidence.FromAPI("CSINodes and pods", "", "collected; none is of node "+n))
}

// Leaving tells whether an attachment is just being taken away: without its Node object, too, the attacher knows
// the machine, by the annotation that the attachment keeps (external-attacher: pkg/controller/csi_handler.go getNodeID).
func Leaving(x *snapshot.Index, va *storagev1.VolumeAttachment) bool {
	d := va.DeletionTimestamp
	return d != nil && va.Status.DetachError == nil && x.Age(d.Time) < volume.Handover
}

// InTheWay asks whether an attachment is in somebody's way: it cannot go, or a pod waits
// elsewhere for a volume that only one node may have.
func InTheWay(x *snapshot.Index, v *snapshot.Volume, va *storagev1.VolumeAttachment) evidence.Answer {
	kept := KeptFrom(x, v, va)
	if va.DeletionTimestamp == nil && va.Status.DetachError == nil && (!va.Status.Attached || len(kept) == 0) {
		return evidence.No()
	}
	facts := []report.Evidence{AttachedFact(va)}
	if va.DeletionTimestamp != nil {
		facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.finalizers", strings.Join(va.Finalizers, " ")))
	}
	if e := va.Status.DetachError; e != nil {
		facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.detachError.message", e.Message))
	}
	return evidence.Yes(append(facts, pods.States(kept)...)...)
}

// Waits says which pods wait for a volume and where.
func Waits(list []*corev1.Pod) string {
	var out []string
	for _, w := range list {
		s := "Pod " + pods.Name(w) + " waits for the volume"
		if w.Spec.NodeName != "" {
			s += " on node " + w.Spec.NodeName
		}
		out = append(out, s+".")
	}
	return strings.Join(out, " ")
}
