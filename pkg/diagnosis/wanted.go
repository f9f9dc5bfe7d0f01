package diagnosis

import (
	"slices"
	"time"

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

// handover is how long a node may take to let a volume go after its last pod there ended:
// unmount, NodeUnstageVolume, the report in the node's status, the detachment.
const handover = 2 * time.Minute

// JustReleased tells whether a node still has a volume only because its last pod there
// ended a moment ago: what is still mounted or attached then is on its way out.
func (p *Pass) JustReleased(v *snapshot.Volume, node string) bool {
	if !p.Collected("/pods") || !p.NodeReady(node).Ready {
		return false
	}
	ending := false
	for _, c := range v.LiveConsumersOn(node) {
		d := c.Pod.DeletionTimestamp
		if d == nil {
			return false
		}
		// The deletion's time is that at which its grace is over (metav1.ObjectMeta).
		if p.Age(d.Time) > handover {
			return false
		}
		ending = true
	}
	va := v.AttachmentOn(node)
	switch {
	case va != nil && va.Status.DetachError != nil:
		return false
	case va != nil && va.DeletionTimestamp != nil:
		return p.Age(va.DeletionTimestamp.Time) <= handover
	case ending:
		return true
	}
	ns, _ := v.ClaimRef()
	killed := p.LastKilled(ns, node)
	return !killed.IsZero() && p.Age(killed) <= handover
}
