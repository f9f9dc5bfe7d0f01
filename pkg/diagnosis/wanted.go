package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// WantedHere tells whether somebody waits for the volume's device on a node: a pod
// that was placed there, or (Longhorn RWX) the share-manager of a waiting pod.
func (p *Pass) WantedHere(v *snapshot.Volume, node string) bool {
	for _, w := range v.Waiting() {
		if w.Pod.Spec.NodeName == node {
			return true
		}
	}
	return v.RegularRWX() && len(v.Waiting()) > 0 && slices.Contains(p.DeviceNodes(v), node)
}

// WantedReleased tells whether a node should let the volume go, and why: no pod
// that still lives needs it there, and the volume is wanted elsewhere, its
// attachment is being deleted, or its last pod there ends or is gone.
func (p *Pass) WantedReleased(v *snapshot.Volume, node string) (bool, string) {
	if !p.Collected("/pods") {
		return false, ""
	}
	for _, c := range v.LiveConsumersOn(node) {
		if !c.Terminating() {
			return false, ""
		}
	}
	if va := v.AttachmentOn(node); va != nil && va.DeletionTimestamp != nil {
		return true, "its VolumeAttachment " + va.Name + " is being deleted"
	}
	for _, c := range v.Terminating() {
		if c.Pod.Spec.NodeName == node {
			return true, "pod " + c.Pod.Namespace + "/" + c.Pod.Name + " on the node is terminating"
		}
	}
	for _, w := range v.Waiting() {
		if n := w.Pod.Spec.NodeName; n != node && v.Exclusive() {
			return true, "pod " + w.Pod.Namespace + "/" + w.Pod.Name + " waits for it elsewhere"
		}
	}
	if v.RegularRWX() && slices.Contains(p.DeviceNodes(v), node) {
		return false, ""
	}
	return len(v.LiveConsumersOn(node)) == 0, "no pod on the node uses it any more"
}
