package holder

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Under is a pod that works with a volume on a node to which the volume is not attached,
// as the API says. Nothing fails yet; but nobody keeps the disk from being given to
// another node, and who made it so may take it away.
type Under struct {
	Says  string // "gone", "unattached", "leaving"
	Node  string
	Pod   *corev1.Pod
	Name  string // of the attachment
	Where string // other nodes that have the volume, as the API says
	State []evidence.Answer
	Last  []evidence.Answer
}

// UndersOf finds the pods of the place's volume that have run for long enough on a node
// that should have it attached and does not.
func UndersOf(pl *evidence.Place) []Under {
	v := pl.Volume
	if v.Handle == "" || !v.AttachedByCSI(pl.X) {
		return nil
	}
	var out []Under
	for _, c := range v.Running() {
		seen := slices.ContainsFunc(out, func(u Under) bool { return u.Node == c.Node() })
		if c.Node() == "" || seen || c.Terminating() || !runsLong(pl.X, c.Pod) {
			continue
		}
		u := Under{Node: c.Node(), Pod: c.Pod, State: []evidence.Answer{evidence.Yes(pods.State(c.Pod)), node.Ready(pl.X, c.Node())}}
		if u.judge(pl) {
			u.State = append(u.State, attaches(pl.X, v))
			u.Where, u.Last = elsewhere(v, c.Node()), []evidence.Answer{inUse(pl.X, v, c.Node())}
			out = append(out, u)
		}
	}
	return out
}

// runsLong tells whether a container of a pod has run for longer than the control plane
// may take to write down what it did, or did before it ended and waits to be started again: a restart mounts nothing anew.
func runsLong(x *snapshot.Index, pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		last := s.LastTerminationState.Terminated
		return s.State.Running != nil && x.Age(s.State.Running.StartedAt.Time) > settled || last != nil && !last.StartedAt.IsZero() && x.Age(last.StartedAt.Time) > settled
	})
}

func (u *Under) judge(pl *evidence.Place) bool {
	va := pl.Volume.AttachmentOn(u.Node)
	if va == nil {
		u.Says, u.Name = "gone", snapshot.AttachmentName(pl.Volume.CSIHandle(), pl.Volume.CSIName(), u.Node)
		if pl.X.Attachment(u.Name) != nil || byPlugin(pl.X.Node(u.Node), pl.Volume) { // of another PersistentVolume with the same handle: to the controller both are one
			return false
		}
		u.State = append(u.State, evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing(evidence.FromAPI("VolumeAttachments", "", "collected; none of the volume is for node "+u.Node)))
		return true
	}
	u.Name = va.Name
	switch d := va.DeletionTimestamp; {
	case d != nil:
		u.Says = "leaving"
		u.State = append(u.State, evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339))))
		return pl.X.Age(d.Time) > settled
	case va.Status.Attached:
		return false
	}
	u.Says = "unattached"
	u.State = append(u.State, evidence.Yes(AttachedFact(va)))
	return pl.X.Age(va.CreationTimestamp.Time) > settled
}

// byPlugin tells whether a node has a volume by the plugin inside Kubernetes: its kubelet is one that
// was not migrated, and for those there are no attachments.
func byPlugin(n *corev1.Node, v *snapshot.Volume) bool {
	return n != nil && v.PV.Spec.CSI == nil && slices.ContainsFunc(n.Status.VolumesAttached, func(a corev1.AttachedVolume) bool {
		return strings.HasPrefix(string(a.Name), v.Driver+"/") && slices.Contains(v.UniqueNames(), string(a.Name))
	})
}

// attaches asks whether volumes of the driver are attached at all. What has no CSIDriver is
// attached, too; but one that nobody wrote down, of whose volumes none is attached or listed
// as in use by a kubelet, may as well be a driver of local disks.
func attaches(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	if d := x.CSIDriver(v.CSIName()); d != nil { // AttachRequired has asked it
		return evidence.Yes()
	}
	for _, va := range x.Cluster.Attachments {
		if va.Spec.Attacher == v.CSIName() {
			return evidence.Yes(AttachedFact(va))
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "the CSIDriver " + v.CSIName(), Why: "none was read"})
}

// elsewhere names the other nodes that have a volume attached.
func elsewhere(v *snapshot.Volume, but string) string {
	var out []string
	for _, va := range v.Attachments {
		if va.Status.Attached && va.Spec.NodeName != but && va.DeletionTimestamp == nil {
			out = append(out, "node "+va.Spec.NodeName)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// inUse asks whether a volume is in use on a node: its mounts there tell, else the kubelet's
// own list.
func inUse(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	for _, m := range x.VolumeMounts(v, on) {
		return evidence.Yes(evidence.FromMount(on, m.NS, m.Mount))
	}
	if n := x.Node(on); n != nil && (v.Block() || x.View(on) == nil) {
		for _, name := range v.UniqueNames() {
			if slices.Contains(n.Status.VolumesInUse, corev1.UniqueVolumeName(name)) {
				return evidence.Yes(evidence.FromAPI("Node "+on, "status.volumesInUse", name))
			}
		}
	}
	if v.Block() {
		return evidence.Unseen(evidence.Lack{Need: "a use of the block volume on node " + on, Node: on, Why: "none was seen"})
	}
	return evidence.TablesFor(x, v, on, probes.Mounts).Found()
}
