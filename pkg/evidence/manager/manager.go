// Package manager answers questions about kube-controller-manager: which work on a volume is its
// own to begin and has not begun, and whether it gives a sign of life.
package manager

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// patience is how long one of its controllers may take to begin: they act within seconds, and a
// manager that starts anew first has to win the lease of the old one.
const patience = 2 * time.Minute

// controllerManaged is the annotation by which a kubelet leaves attaching to the controller
// (enableControllerAttachDetach of its configuration).
const controllerManaged = "volumes.kubernetes.io/controller-managed-attach-detach"

// Idle is work on a volume that has not begun.
type Idle struct {
	Says  string // "attach", "list", "release", "bind", "forget"
	Claim string // "namespace/name"
	Node  string
	Pod   *corev1.Pod // that waits
	Age   time.Duration
	State []evidence.Answer
	// Undated says that nothing tells since when it is to be done: perhaps since a moment ago.
	Undated bool
}

// Since is how long it is to be done; empty when nothing tells.
func (i Idle) Since() string {
	if i.Undated {
		return ""
	}
	return evidence.Duration(i.Age)
}

// IdleOf finds what one of the manager's controllers should have begun with the place's volume.
func IdleOf(pl *evidence.Place) (Idle, bool) {
	for _, of := range []func(*evidence.Place) (Idle, bool){attach, list, release, bind, forget} {
		if idle, ok := of(pl); ok {
			idle.Claim = pl.Volume.Claim.Namespace + "/" + pl.Volume.Claim.Name
			return idle, true
		}
	}
	return Idle{}, false
}

// attach: a pod was taken up by its kubelet, and no VolumeAttachment was made for its node. The
// controller says why when it may not (Multi-Attach), so one that said nothing has not looked.
func attach(pl *evidence.Place) (Idle, bool) {
	v := pl.Volume
	if v.PV == nil || v.PV.DeletionTimestamp != nil || v.CSIName() == "" || !v.AttachRequired(pl.X) || v.Claim == nil || !claims.Usable(v.Claim).Yes() || v.Exclusive() && !free(pl) {
		return Idle{}, false
	}
	for _, c := range v.Waiting() {
		on, began := pl.X.Node(c.Node()), c.Pod.Status.StartTime
		if pods.Borrows(c, v.Claim) {
			continue // the controller refuses the pod before it looks at the volume
		}
		if on == nil || began == nil || pl.X.Age(began.Time) < patience || on.Annotations[controllerManaged] != "true" || pl.X.Attachment(snapshot.AttachmentName(v.CSIHandle(), v.CSIName(), on.Name)) != nil || pl.X.ReportedAttached(on.Name, v) || heard(pl, c.Pod) {
			continue
		}
		i := Idle{Says: "attach", Node: on.Name, Pod: c.Pod, Age: pl.X.Age(began.Time)}
		i.State = []evidence.Answer{
			evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing(evidence.FromAPI("VolumeAttachments", "", "none of the volume is for node "+on.Name)),
			evidence.Resource(pl.X, "/events").Nothing(),
			evidence.Yes(evidence.FromPod(c.Pod, "status.startTime", began.UTC().Format(time.RFC3339))),
		}
		return i, true
	}
	return Idle{}, false
}

// list: a volume was attached, and its node's status.volumesAttached, for which the kubelet waits, does not say so,
// while no manager leads: only its attach-detach controller writes that.
func list(pl *evidence.Place) (Idle, bool) {
	for _, c := range pl.Volume.Waiting() {
		va := pl.Volume.AttachmentOn(c.Node())
		if va == nil || !va.Status.Attached || pl.X.Node(c.Node()) == nil || pl.X.ReportedAttached(c.Node(), pl.Volume) {
			continue
		}
		if _, silent := Silent(pl.X); !silent.Yes() {
			return Idle{}, false
		}
		return Idle{Says: "list", Node: c.Node(), Pod: c.Pod, Age: pl.X.Age(c.Pod.CreationTimestamp.Time), State: []evidence.Answer{
			evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "true"), evidence.FromAPI("Node "+c.Node(), "status.volumesAttached", "does not list it"))}}, true
	}
	return Idle{}, false
}

// free tells whether every attachment of an exclusive volume is one that the controller would
// have taken away already: no pod is on its node, whose kubelet has let it go.
func free(pl *evidence.Place) bool {
	return !slices.ContainsFunc(pl.Volume.Attachments, func(va *storagev1.VolumeAttachment) bool {
		n := va.Spec.NodeName
		return va.DeletionTimestamp != nil || !pl.X.NodeReady(n).Ready || pl.X.ReportedInUse(n, pl.Volume) || len(pl.Volume.LiveConsumersOn(n)) > 0
	})
}

// bind: a claim is Pending, and the PV controller has neither bound it to the volume that it
// names, nor called a provisioner, nor said why; who was called would have spoken, too. Its annotations call the provisioner
// (setClaimProvisioner in pv_controller.go).
func bind(pl *evidence.Place) (Idle, bool) {
	c := pl.Volume.Claim
	if c == nil || c.Status.Phase != corev1.ClaimPending || c.DeletionTimestamp != nil || pl.X.Age(c.CreationTimestamp.Time) < patience ||
		slices.ContainsFunc(pl.Texts, func(t evidence.Text) bool { return t.Source == "event" && t.Pod == "" }) {
		return Idle{}, false
	}
	i := Idle{Says: "bind", Age: pl.X.Age(c.CreationTimestamp.Time)}
	for _, w := range pl.Volume.Waiting() {
		i.Pod = w.Pod
	}
	switch pv := pl.X.PV(c.Spec.VolumeName); {
	case provision.Uncalled(pl.Volume):
		i.State = append(i.State, evidence.Yes(evidence.FromAPI(claims.Object(c), "metadata.annotations", "none names a provisioner")))
	case pv != nil && claims.Asks(c, pv).Yes():
		_, differs := claims.Differs(c, pv)
		i.State = append(i.State, claims.Asks(c, pv), evidence.Not(differs))
	default:
		return Idle{}, false
	}
	i.State = append(i.State, evidence.Resource(pl.X, "/events").Nothing())
	return i, true
}

// forget: a claim is deleted, no pod is left that keeps it, and only the finalizer that waits for
// such pods keeps it (pkg/controller/volume/pvcprotection).
func forget(pl *evidence.Place) (Idle, bool) {
	c := pl.Volume.Claim
	if c == nil || c.DeletionTimestamp == nil || pl.X.Age(c.DeletionTimestamp.Time) < patience || slices.ContainsFunc(pl.Volume.Consumers, claims.Keeper(c)) || !slices.Equal(c.Finalizers, []string{"kubernetes.io/pvc-protection"}) {
		return Idle{}, false
	}
	return Idle{Says: "forget", Age: pl.X.Age(c.DeletionTimestamp.Time), State: []evidence.Answer{
		evidence.Yes(evidence.FromAPI(claims.Object(c), "metadata.finalizers", strings.Join(c.Finalizers, " "))),
		evidence.ResourceIn(pl.X, "/pods", c.Namespace).Nothing(evidence.FromAPI("Pods of namespace "+c.Namespace, "", "collected; none that was placed uses the claim")),
	}}, true
}

// heard tells whether the attach-detach controller said anything of a pod.
func heard(pl *evidence.Place, pod *corev1.Pod) bool {
	return slices.ContainsFunc(pl.Texts, func(t evidence.Text) bool {
		return t.Component == "attachdetach-controller" && t.Pod == pods.Name(pod)
	})
}

// Silent asks whether no instance of the manager leads or runs; why says what shows it. A lease
// is renewed every few seconds (--leader-elect-retry-period).
func Silent(x *snapshot.Index) (why string, is evidence.Answer) {
	for _, l := range x.Cluster.Leases {
		if l == nil || l.Namespace != metav1.NamespaceSystem || l.Name != snapshot.ControllerManager || l.Spec.RenewTime == nil {
			continue
		}
		fact := evidence.FromAPI("Lease "+l.Namespace+"/"+l.Name, "spec.renewTime", l.Spec.RenewTime.UTC().Format(time.RFC3339))
		if age := x.LeaseAge(l); age > time.Minute {
			return fmt.Sprintf("No instance of it leads: its lease was renewed %s ago", evidence.Duration(age)), evidence.Yes(fact)
		}
		return "", evidence.No(fact)
	}
	var down *corev1.Pod
	for _, pod := range x.PodsIn(metav1.NamespaceSystem) {
		switch {
		case pod.Labels["component"] != snapshot.ControllerManager:
		case snapshot.PodServes(pod):
			return "", evidence.No(pods.State(pod))
		default:
			down = pod
		}
	}
	if down != nil {
		return "Its pod " + pods.Name(down) + " does not run", evidence.Yes(pods.State(down))
	}
	return "", evidence.Unseen(evidence.Lack{Need: "Lease " + metav1.NamespaceSystem + "/" + snapshot.ControllerManager, Why: "neither it nor a pod of the manager was found"})
}
