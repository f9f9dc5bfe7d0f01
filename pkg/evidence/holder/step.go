package holder

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// settled is how long the attach-detach controller may take to write what it did into the
// node's status.
const settled = 2 * time.Minute

// Step is an attachment of a volume and a node's volumesAttached that contradict each other.
type Step struct {
	Says   string // "unlisted", "missing", "unread"
	Node   *corev1.Node
	Waiter *corev1.Pod
	Name   string // of the attachment
	Tries  bool   // the controller failed a moment ago, and sees at its next try what was done since
	Age    string // of the Node object, when it is younger than the attachment
	State  []evidence.Answer
	Last   []evidence.Answer
}

// Steps finds the nodes on which a pod has waited for long enough because attachment and
// node status do not agree.
func Steps(pl *evidence.Place) []Step {
	v := pl.Volume
	if v.PV == nil || v.CSIName() == "" || v.Handle == "" || !v.AttachRequired(pl.X) {
		return nil // in-tree volumes that were not migrated have other names and no VolumeAttachment
	}
	var out []Step
	for _, name := range pl.X.NodesOf(v) {
		n, w := pl.X.Node(name), longWaiter(pl.X, v, name)
		if n == nil || w == nil || pl.X.Age(n.CreationTimestamp.Time) <= settled {
			continue
		}
		s := Step{Node: n, Waiter: w, State: []evidence.Answer{evidence.Yes(pods.State(w)), node.Ready(pl.X, name)}}
		if s.judge(pl) {
			s.State[0] = s.State[0].With(saidMissing(pl)...)
			out = append(out, s)
		}
	}
	return out
}

// longWaiter is a pod that has waited long enough because of what a node's status says:
// one on that node, or one elsewhere when the volume is exclusive.
func longWaiter(x *snapshot.Index, v *snapshot.Volume, on string) *corev1.Pod {
	waiters := WaitersOn(v, on)
	if v.Exclusive() && len(liveOn(v, on)) == 0 {
		waiters = append(waiters, WaitersAway(v, on)...)
	}
	return evidence.First(waiters, func(w *corev1.Pod) bool { return x.Age(w.CreationTimestamp.Time) > settled })
}

func (s *Step) judge(pl *evidence.Place) bool {
	v, n, here := pl.Volume, s.Node, s.Waiter.Spec.NodeName == s.Node.Name
	va, listed := v.AttachmentOn(n.Name), pl.X.ReportedAttached(n.Name, v)
	lists := evidence.FromAPI("Node "+n.Name, "status.volumesAttached", list(n))
	if va != nil {
		if !here || !va.Status.Attached || va.DeletionTimestamp != nil || listed || pl.X.Age(va.CreationTimestamp.Time) <= settled {
			return false
		}
		s.Says, s.Name, s.Tries = "unlisted", va.Name, triesAgain(pl, s.Waiter)
		s.State = append(s.State, evidence.Yes(AttachedFact(va), lists))
		if n.CreationTimestamp.After(va.CreationTimestamp.Time) {
			s.Age = pods.Ago(pl.X, n.CreationTimestamp.Time)
			s.State = append(s.State, evidence.Yes(evidence.FromAPI("Node "+n.Name, "metadata.creationTimestamp", n.CreationTimestamp.UTC().Format(time.RFC3339)),
				evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.creationTimestamp", va.CreationTimestamp.UTC().Format(time.RFC3339))))
		}
		return true
	}
	s.Name = snapshot.AttachmentName(v.CSIHandle(), v.CSIName(), n.Name)
	if pl.X.Attachment(s.Name) != nil {
		return false // of another PersistentVolume with this handle, read or not: it is what the node lists
	}
	none := evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing(evidence.FromAPI("VolumeAttachments", "", "collected; none is named "+s.Name))
	s.State = append(s.State, evidence.Yes(evidence.FromAPI("Node "+n.Name, "status.volumesAttached", v.UniqueName())))
	if s.Last = []evidence.Answer{none}; none.Yes() {
		s.Says = "missing"
		if !here {
			s.Last = append(s.Last, evidence.Unseen(evidence.Lack{Need: "since when node " + n.Name + " has listed a volume without an attachment", Node: n.Name, Why: "after a detach it does so for a moment"}))
		}
		return listed
	}
	// Where attachments could not be read, the kubelet's word stands for them.
	s.Says = "unread"
	return listed && here && toldMissing(pl, n.Name)
}

// triesAgain tells whether the attach-detach controller failed so lately that it still waits before
// its next try: up to 2m2s (pkg/util/goroutinemap/exponentialbackoff of Kubernetes). Since when an
// attachment is made nothing tells; it may be older than its result by far.
func triesAgain(pl *evidence.Place, pod *corev1.Pod) bool {
	return slices.ContainsFunc(pl.Texts, func(t evidence.Text) bool {
		return t.Reason == "FailedAttachVolume" && t.Pod == pods.Name(pod) && pl.X.Age(t.At) < settled+10*time.Second
	})
}

// toldMissing tells whether a kubelet was told freshly that its attachment does not exist:
// so the node authorizer says it (plugin/pkg/auth/authorizer/node).
func toldMissing(pl *evidence.Place, on string) bool {
	return slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "no relationship found between node") && (t.Node == "" || t.Node == on)
	})
}

func saidMissing(pl *evidence.Place) []report.Evidence {
	return pl.Texts.Say(func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "no relationship found") || strings.Contains(t.Raw, "according to node")
	}).Facts()
}

// list prints what the node's status lists.
func list(n *corev1.Node) string {
	names := evidence.Each(n.Status.VolumesAttached, func(a corev1.AttachedVolume) string { return string(a.Name) })
	return cmp.Or(strings.Join(names, " "), "empty")
}
