package holder

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Lost is a node that has a volume and does not report.
type Lost struct {
	Name     string
	Volume   *snapshot.Volume
	Ready    snapshot.Readiness
	Quiet    bool          // only its lease is old; the condition still says Ready
	At       Attachment    // zero when only pods tie the volume to the node
	Pods     []*corev1.Pod // of the volume on that node, also those being deleted
	Waiters  []*corev1.Pod // of the volume on other nodes
	Unplaced []*corev1.Pod // that wait for a node and could have no other one
	Shutdown bool          // the cloud provider's taint says that the machine is off
	Marked   *corev1.Pod   // that carries the mark of a lost node, where the node could not be read
	x        *snapshot.Index
}

// Unready is a node whose Ready condition is not True, whatever volumes it has.
func Unready(x *snapshot.Index, name string) (Lost, bool) {
	l := Lost{Name: name, Ready: x.NodeReady(name), x: x}
	return l, l.Ready.Known && !l.Ready.Ready
}

// LostNodes finds the nodes that have a volume, do not report, and keep the volume from
// somebody.
func LostNodes(x *snapshot.Index, v *snapshot.Volume) []Lost {
	var out []Lost
	for _, name := range placesOf(x, v) {
		if l, ok := lostOn(x, v, name); ok && l.blocks() {
			out = append(out, l)
		}
	}
	return out
}

// placesOf are the nodes with a trace of a volume, and that on which alone a pod could use it.
func placesOf(x *snapshot.Index, v *snapshot.Volume) []string {
	out := slices.Clone(x.NodesOf(v))
	for _, w := range v.Waiting() {
		if n := pods.OnlyPlace(x, w.Pod); n != nil {
			out = evidence.Once(out, n.Name)
		}
	}
	return out
}

// unplaced are the pods that wait for a volume without a node and could have none but this one.
func unplaced(x *snapshot.Index, v *snapshot.Volume, name string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, w := range v.Waiting() {
		if n := pods.OnlyPlace(x, w.Pod); n != nil && n.Name == name {
			out = append(out, w.Pod)
		}
	}
	return out
}

// KeptOn finds the volumes of a node that does not report which are attached there while
// no pod of them is left: nobody waits for them yet.
func KeptOn(x *snapshot.Index, name string) []Lost {
	var out []Lost
	for _, v := range x.VolumesOn(name) {
		if l, ok := lostOn(x, v, name); ok && !l.blocks() && l.Keeps() && !l.usedElsewhere() {
			out = append(out, l)
		}
	}
	return out
}

// TakenFrom finds the nodes that do not report, whose kubelet last said that it uses an
// exclusive volume, and that nothing ties to it any more: neither an attachment nor a pod, but for one that is
// to go while another node has the volume. The kubelet strikes a volume off when it has unmounted it, so it
// was taken away before that.
func TakenFrom(x *snapshot.Index, v *snapshot.Volume) []Lost {
	var out []Lost
	for _, name := range x.OtherNodes(v) {
		n, r := x.Node(name), x.NodeReady(name)
		_, tied := On(x, v, name)
		l := Lost{Name: name, Volume: v, Ready: r, Pods: liveOn(v, name), x: x}
		left := len(l.Pods) == 0 || len(Going(l.Pods)) == len(l.Pods) && l.usedElsewhere()
		if n != nil && r.Known && !r.Ready && v.Exclusive() && v.AttachRequired(x) && x.ReportedInUse(name, v) && !tied && left &&
			!node.Tainted(n, node.OutOfService) && !node.Tainted(n, node.Shutdown) {
			out = append(out, l)
		}
	}
	return out
}

// Taken asks whether nothing ties the volume to the node: its attachments were read, and its pods.
func (l Lost) Taken() evidence.Answer {
	return evidence.ConsumersOf(l.x, l.Volume).And(evidence.Resource(l.x, "storage.k8s.io/volumeattachments")).Nothing(evidence.FromAPI("Node "+l.Name, "status.volumesInUse", l.Volume.UniqueName()))
}

func lostOn(x *snapshot.Index, v *snapshot.Volume, name string) (Lost, bool) {
	n := x.Node(name)
	if n == nil || node.Tainted(n, node.OutOfService) {
		return Lost{}, false // the controller detaches at once: nobody waits for this node
	}
	l := Lost{Name: name, Volume: v, Ready: x.NodeReady(name), x: x, Shutdown: node.Tainted(n, node.Shutdown)}
	if l.Ready.Ready || !l.Ready.Known {
		if l.Quiet = l.Ready.Known && l.Ready.LeaseOld(); !l.Quiet {
			return Lost{}, false
		}
	}
	l.At, _ = On(x, v, name)
	l.Pods, l.Waiters = liveOn(v, name), WaitersAway(v, name)
	l.Unplaced = unplaced(x, v, name)
	// What is mounted without being attached has only its pods in the API.
	byPods := !v.AttachRequired(x) && len(l.Pods) > 0 && len(l.Waiters) > 0 && volume.OneNode(x, v)
	return l, l.Holds() || len(Going(l.Pods)) > 0 || byPods || l.OnlyWanted() || len(l.Unplaced) > 0
}

// OnlyWanted tells whether nothing of the volume is on the node yet, and a pod that was placed there waits for it and for no
// other node. A kubelet that reports mounts volumes, whatever its node lacks.
func (l Lost) OnlyWanted() bool {
	kept := volume.OneNode(l.x, l.Volume) && slices.ContainsFunc(l.Volume.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.Spec.NodeName != l.Name })
	return !kept && (l.Ready.Unknown || l.Ready.LeaseAge > time.Minute) && !l.Holds() && len(l.Pods) > 0 && len(WaitersOn(l.Volume, l.Name)) == len(l.Pods)
}

// blocks tells whether the silence of the node keeps the volume from anybody. A volume
// that several nodes may have is not kept from the others, unless Longhorn shares it from
// that node.
func (l Lost) blocks() bool {
	if len(l.Unplaced) > 0 {
		return true
	}
	if l.Keeps() {
		return !l.usedElsewhere() && (len(l.Pods) > 0 || len(l.Waiters) > 0 || l.letGo() || l.unserved())
	}
	return len(Going(l.Pods)) > 0 || l.OnlyWanted()
}

// Keeps tells whether the node has what others cannot have meanwhile.
func (l Lost) Keeps() bool { return volume.OneNode(l.x, l.Volume) || sharedFrom(l.Volume, l.Name) }

// Suffers tells whether anybody is kept from the volume now: a pod waits for it, one cannot
// end, or it shall be detached.
func (l Lost) Suffers() bool {
	return len(l.Waiters) > 0 || len(l.Unplaced) > 0 || len(Going(l.Pods)) > 0 || len(WaitersOn(l.Volume, l.Name)) > 0 || l.letGo() || l.unserved()
}

// Replaced tells whether nobody lacks the volume, which several nodes may have: what hangs on the silent node are old pods, and
// their controllers' new ones have it elsewhere. A StatefulSet makes none before the old one is gone, whoever else of it runs.
func (l Lost) Replaced() bool {
	going := Going(l.Pods)
	if l.Keeps() || len(l.Waiters)+len(l.Unplaced)+len(WaitersOn(l.Volume, l.Name)) > 0 || l.letGo() || len(going) == 0 || len(going) < len(l.Pods) {
		return false
	}
	return !slices.ContainsFunc(going, func(old *corev1.Pod) bool {
		owner := metav1.GetControllerOf(old)
		return owner == nil || owner.Kind == "StatefulSet" || !slices.ContainsFunc(l.Volume.Running(), func(c *snapshot.Consumer) bool {
			o := metav1.GetControllerOf(c.Pod)
			return o != nil && o.UID == owner.UID && c.Node() != l.Name && !c.Terminating() && l.x.NodeReady(c.Node()).Ready
		})
	})
}

// unserved tells whether pods use a share that the node had and serves no more: they hang, and
// do not wait to start.
func (l Lost) unserved() bool {
	return sharedFrom(l.Volume, l.Name) && len(l.Volume.Live()) > 0 && l.Volume.Longhorn.ShareManager != nil && l.Volume.Longhorn.ShareManager.State != "running"
}

// letGo tells whether the volume shall leave the node: it is being detached, or to be deleted.
func (l Lost) letGo() bool {
	deleted := l.Volume.Abandoned() && l.Volume.PV.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
	return l.At.VA != nil && (deleted || l.At.VA.DeletionTimestamp != nil)
}

// usedElsewhere tells whether a live user on a Ready node shows that an exclusive volume is free.
func (l Lost) usedElsewhere() bool {
	return volume.OneNode(l.x, l.Volume) && slices.ContainsFunc(l.Volume.Running(), func(c *snapshot.Consumer) bool {
		return c.Node() != l.Name && !c.Terminating() && l.x.NodeReady(c.Node()).Ready
	})
}

// Holds tells whether the API ties the volume itself to the node, not only its pods.
func (l Lost) Holds() bool { return l.At.Node != "" || sharedFrom(l.Volume, l.Name) }

// sharedFrom tells whether Longhorn exports the volume over NFS from this node.
func sharedFrom(v *snapshot.Volume, node string) bool {
	return v.RegularRWX() && v.Longhorn != nil && v.Longhorn.Volume != nil && v.Longhorn.Volume.Status.CurrentNodeID == node
}

// Silent asks whether the node's condition says that it does not report. While only its
// lease is old, the condition was not seen to.
func (l Lost) Silent() evidence.Answer {
	if l.Quiet {
		return evidence.Unseen(evidence.Lack{Need: "the Ready condition of node " + l.Name, Node: l.Name, Why: "it still says True"})
	}
	return evidence.Yes()
}

// JustNow tells whether the node fell silent within the last minute, as one does that starts anew.
func (l Lost) JustNow() bool {
	return !l.Quiet && l.x.Age(l.Ready.Since) < time.Minute && l.Ready.LeaseAge < time.Minute
}

// WaitedBefore tells whether pods waited for long when the node fell silent: for something else.
func (l Lost) WaitedBefore() bool {
	return (l.OnlyWanted() || len(l.Unplaced) > 0) && slices.ContainsFunc(slices.Concat(l.Pods, l.Unplaced), func(p *corev1.Pod) bool { return l.Ready.Since.Sub(p.CreationTimestamp.Time) > 2*time.Minute })
}

// Tied asks whether the volume is attached to, or shared from, the node, or shall be mounted there first.
func (l Lost) Tied() evidence.Answer {
	if !l.Holds() && !l.OnlyWanted() && len(l.Unplaced) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "an attachment of the volume to node " + l.Name, Node: l.Name, Why: "only its pods show that it is used there"})
	}
	return evidence.Yes(l.At.Facts...)
}

// Free asks whether nobody else works with the volume: all its users and their nodes were read.
func (l Lost) Free() evidence.Answer {
	return evidence.ConsumersOf(l.x, l.Volume).And(evidence.Resource(l.x, "/nodes")).Nothing()
}

// Facts quote the node's condition, its lease and taints, and the pods.
func (l Lost) Facts() []report.Evidence {
	object := "Node " + l.Name
	text := strings.TrimSpace(l.Ready.Status() + " since " + l.Ready.Since.UTC().Format(time.RFC3339) + " " + l.Ready.Reason + " " + l.Ready.Message)
	out := []report.Evidence{evidence.FromAPI(object, "status.conditions[Ready]", text)}
	if l.Ready.LeaseOld() {
		out = append(out, evidence.FromAPI("Lease kube-node-lease/"+l.Name, "spec.renewTime", evidence.Duration(l.Ready.LeaseAge)+" ago"))
	}
	for _, t := range l.x.Node(l.Name).Spec.Taints {
		if t.Key == node.Shutdown || t.Key == corev1.TaintNodeUnreachable || t.Key == corev1.TaintNodeNotReady {
			out = append(out, evidence.FromAPI(object, "spec.taints", t.Key+":"+string(t.Effect)))
		}
	}
	return append(out, pods.States(slices.Concat(l.Pods, l.Waiters, l.Unplaced))...)
}
