package holder

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/slots"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Backend is a storage backend that refuses to attach a volume to the node of a pod,
// because it believes the disk to be elsewhere.
type Backend struct {
	Waiter  *corev1.Pod
	Text    evidence.Text
	Machine string       // that it names; empty: none
	Node    *corev1.Node // of this cluster, that the machine is
	Says    string       // "nameless", "foreign", "unknown", "node", "absent"
	Disk    string       // the node has it
	Listed  bool         // the node's status still lists the volume
	Refused evidence.Answer
	There   evidence.Answer // what the backend says is so
	Idle    evidence.Answer // Kubernetes has no reason to hold it there
}

// BackendOf finds the newest word of the backend about an attach of the place's volume.
func BackendOf(pl *evidence.Place) (Backend, bool) {
	v := pl.Volume
	if len(v.Waiting()) == 0 || v.IsLonghorn() || v.PVName() == "" {
		return Backend{}, false
	}
	for _, t := range pl.Refused() {
		attaching := ofAttach(t)
		if !attaching && !inMount(pl.X, v, t) {
			continue
		}
		if machine, ok := cloud.SaysElsewhere(pl.X, t.Raw); ok && (attaching || machine != "") {
			b := Backend{Text: t, Machine: machine, Refused: evidence.Yes(t.Evidence())}
			b.Waiter = b.waiter(v)
			if machine != "" {
				b.Node = cloud.MachineNode(pl.X, v.CSIName(), machine)
			}
			b.judge(pl)
			return b, true
		}
	}
	return Backend{}, false
}

// ofAttach tells whether a text is a refusal to attach. A limit and a rate name instances, too.
func ofAttach(t evidence.Text) bool {
	attaching := t.Source == "api" || strings.Contains(t.Reason, "Attach") || strings.Contains(t.Op, "Attach") || strings.Contains(t.Raw, "AttachVolume") || strings.Contains(t.Raw, "ControllerPublish")
	return attaching && t.Reason != "detachError" && !multiAttach(t) && !slots.SaysNone(t) && !t.Is(message.Throttled)
}

// inMount tells whether a text is a refusal to mount of a driver that attaches by itself as a part
// of it, as Portworx does: its volumes have no attachments.
func inMount(x *snapshot.Index, v *snapshot.Volume, t evidence.Text) bool {
	return v.CSIName() != "" && !v.AttachRequired(x) && volume.KindOf(x, v)&volume.Disk != 0 && t.Mounts()
}

func (b Backend) waiter(v *snapshot.Volume) *corev1.Pod {
	w := v.Waiting()[0]
	for _, c := range v.Waiting() {
		if c.Node() != "" && (c.Node() == b.Text.Node || w.Node() == "") {
			w = c
		}
	}
	return w.Pod
}

func (b *Backend) judge(pl *evidence.Place) {
	x, v := pl.X, pl.Volume
	if b.Node == nil {
		b.Idle = evidence.All(evidence.When(!heldElsewhere(v, b.Waiter.Spec.NodeName)), evidence.Resource(x, "storage.k8s.io/volumeattachments").Nothing())
		lack := func(need, why string) evidence.Answer { return evidence.Unseen(evidence.Lack{Need: need, Why: why}) }
		switch {
		case b.Machine == "":
			b.Says, b.There = "nameless", lack("the state of the disk in the storage backend", "no object and no node shows it")
		case evidence.Resource(x, "/nodes").Complete() && cloud.Tellable(x, v.CSIName(), b.Machine):
			b.Says, b.There = "foreign", evidence.Yes()
		default:
			b.Says, b.There = "unknown", lack("whether "+b.Machine+" is a node of this cluster", "no id of its nodes has that form, or they were not all read")
		}
		return
	}
	on := b.Node.Name
	wanted := on == b.Waiter.Spec.NodeName || v.AttachmentOn(on) != nil || len(v.LiveConsumersOn(on)) > 0 || sharedHandle(x, v, on)
	b.Idle = evidence.All(evidence.When(!wanted), evidence.Resources(x, "storage.k8s.io/volumeattachments").And(evidence.ConsumersOf(x, v)).Nothing())
	if b.Listed = x.ReportedAttached(on, v); b.Listed {
		b.Refused = b.Refused.With(evidence.FromAPI("Node "+on, "status.volumesAttached", v.UniqueName()))
	}
	b.Says = "node"
	d, ok := x.DeviceOn(v, on)
	switch probed := evidence.NodePlace(x, on).Probed(); {
	case ok && d.Proven && d.Block != nil:
		b.Disk, b.There = d.Block.Name, evidence.Yes(evidence.FromNode(on, d.Locator, d.How))
	case !probed.Complete():
		b.There = probed.Nothing()
	default:
		b.Says, b.There = "absent", evidence.Unseen(evidence.Lack{Need: "the disk on node " + on, Node: on, Why: "the node does not show it"})
	}
}

// heldElsewhere tells whether Kubernetes itself has the volume on another node: then
// the backend is right.
func heldElsewhere(v *snapshot.Volume, node string) bool {
	if slices.ContainsFunc(v.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.Spec.NodeName != node }) {
		return true
	}
	return slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool { return c.Node() != "" && c.Node() != node && !c.Waiting() })
}

// sharedHandle tells whether a pod on the node uses another PV of the same disk.
func sharedHandle(x *snapshot.Index, v *snapshot.Volume, node string) bool {
	return slices.ContainsFunc(x.Others(v), func(o *snapshot.Volume) bool { return len(o.LiveConsumersOn(node)) > 0 })
}
