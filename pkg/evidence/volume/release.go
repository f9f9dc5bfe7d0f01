package volume

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Awaited tells whether somebody waits for the volume's device on a node: a pod that
// was placed there, or (Longhorn RWX) the share-manager of a waiting pod.
func Awaited(x *snapshot.Index, v *snapshot.Volume, node string) bool {
	return len(v.WaitingOn(node)) > 0 || v.RegularRWX() && len(v.Waiting()) > 0 && slices.Contains(x.DeviceNodes(v), node)
}

// Released asks whether a node should let the volume go, and says why: no pod that
// still lives needs it there, and the volume is wanted elsewhere, its attachment is
// being deleted, or its last pod there ends or is gone.
func Released(x *snapshot.Index, v *snapshot.Volume, node string) (evidence.Answer, string) {
	if r := evidence.UsersOf(x, v); !r.Complete() {
		return evidence.Unseen(r.Lacks()...), ""
	}
	needed := func(o *snapshot.Volume) bool {
		return slices.ContainsFunc(o.LiveConsumersOn(node), func(c *snapshot.Consumer) bool { return !c.Terminating() })
	}
	if needed(v) || slices.ContainsFunc(x.VolumesOfHandle(v.Driver, v.Handle), func(o *snapshot.Volume) bool { return o != v && needed(o) }) {
		return evidence.No(), ""
	}
	if va := v.AttachmentOn(node); va != nil && va.DeletionTimestamp != nil {
		return evidence.Yes(), "its VolumeAttachment " + va.Name + " is being deleted"
	}
	for _, c := range v.Terminating() {
		if c.Pod.Spec.NodeName == node {
			return evidence.Yes(), "pod " + c.Pod.Namespace + "/" + c.Pod.Name + " on the node is terminating"
		}
	}
	for _, w := range v.Waiting() {
		if w.Pod.Spec.NodeName != node && v.Exclusive() {
			return evidence.Yes(), "pod " + w.Pod.Namespace + "/" + w.Pod.Name + " waits for it elsewhere"
		}
	}
	if v.RegularRWX() && slices.Contains(x.DeviceNodes(v), node) {
		return evidence.No(), ""
	}
	if len(v.LiveConsumersOn(node)) > 0 {
		return evidence.No(), ""
	}
	return evidence.UsersOf(x, v).Nothing(), "no pod on the node uses it any more"
}

// Handover is how long a node may take to let a volume go after its last pod there ended:
// unmount, NodeUnstageVolume, the report in the node's status, the detachment.
const Handover = 2 * time.Minute

// JustReleased tells whether a node still has a volume only because its last pod there
// ended a moment ago: what is still mounted or attached then is on its way out.
func JustReleased(x *snapshot.Index, v *snapshot.Volume, on string) bool {
	if !evidence.UsersOf(x, v).Complete() || !x.NodeReady(on).Ready && !node.Tainted(x.Node(on), node.OutOfService) {
		return false
	}
	ending := false
	for _, c := range v.LiveConsumersOn(on) {
		d := c.Pod.DeletionTimestamp
		// The deletion's time is that at which its grace is over (metav1.ObjectMeta).
		if d == nil || x.Age(d.Time) > Handover {
			return false
		}
		ending = true
	}
	va := v.AttachmentOn(on)
	switch {
	case va != nil && va.Status.DetachError != nil:
		return false
	case va != nil && va.DeletionTimestamp != nil:
		return x.Age(va.DeletionTimestamp.Time) <= Handover
	case ending:
		return true
	}
	ns, _ := v.ClaimRef()
	killed := x.LastKilled(ns, on) // the pod is gone, and so is all but its last event
	return !killed.IsZero() && x.Age(killed) <= Handover || Succeeded(x, v, on)
}

// Recent tells whether a volume is wanted by a pod that is not older than a handover takes:
// what stands in its way may go by itself.
func Recent(x *snapshot.Index, v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return x.Age(w.Pod.CreationTimestamp.Time) <= Handover })
}

// succession is how soon after the end of a pod its controller makes the next.
const succession = 30 * time.Second

// Succeeded tells whether the next pod of a volume was made elsewhere a moment ago: so its
// last one has just ended, whatever is left to show that. A StatefulSet makes a pod when the
// one of the same name is gone, and not before.
func Succeeded(x *snapshot.Index, v *snapshot.Volume, node string) bool {
	return v.Exclusive() && slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return w.Node() != node && successor(x, w) })
}

// Renewed is Succeeded, wherever the next pod runs or waits.
func Renewed(x *snapshot.Index, v *snapshot.Volume) bool {
	return v.Exclusive() && slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool { return successor(x, c) })
}

func successor(x *snapshot.Index, c *snapshot.Consumer) bool {
	within := succession
	if o := metav1.GetControllerOf(c.Pod); o != nil && o.Kind == "StatefulSet" {
		within = Handover
	}
	return x.Age(c.Pod.CreationTimestamp.Time) <= within
}

// starts is how long an undisturbed start may wait for its volumes.
const starts = 2 * time.Minute

// Fails asks whether a step of the volume fails at the place now, in whatever words: a
// fresh complaint, or a pod there that waits for longer than a start takes, or ends and
// does not go.
func Fails(pl *evidence.Place) evidence.Answer {
	if said := pl.Refused().Say(func(t evidence.Text) bool { return !t.Ordinary }); said.Yes() {
		return said
	}
	facts := evidence.Phases(evidence.Keep(pl.Volume.Waiting(), func(w *snapshot.Consumer) bool {
		n := w.Node()
		return (n == "" || pl.Node == "" || n == pl.Node || OneNode(pl.X, pl.Volume)) && pl.X.Age(w.Pod.CreationTimestamp.Time) > starts
	}))
	for _, c := range pl.Volume.Terminating() {
		if d := c.Pod.DeletionTimestamp; d != nil && pl.X.Age(d.Time) > time.Minute {
			facts = append(facts, evidence.FromPod(c.Pod, "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339)))
		}
	}
	for _, va := range pl.Volume.Attachments {
		if d := va.DeletionTimestamp; d != nil && pl.X.Age(d.Time) > Handover {
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339)))
		}
	}
	return pl.Consumers().Found(facts...)
}

// Belongs tells whether the place's node should have the volume's device.
func Belongs(pl *evidence.Place) bool {
	return slices.Contains(pl.X.DeviceNodes(pl.Volume), pl.Node)
}
