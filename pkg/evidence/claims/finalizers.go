package claims

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Going is an object of a volume that is being deleted and stays.
type Going struct {
	Kind string
	*metav1.ObjectMeta
	pod *corev1.Pod
}

// Weight is how much it hurts that the object stays: a pod beside which another one serves with the volume holds
// nobody up; else what the cause says. A StatefulSet makes no new pod before the old one of its name is gone, so that only
// another of its own stands in for that.
func (g Going) Weight(pl *evidence.Place) report.Severity {
	if g.pod == nil {
		return ""
	}
	set := metav1.GetControllerOf(g.pod)
	if slices.ContainsFunc(pl.Volume.Live(), func(c *snapshot.Consumer) bool {
		other := metav1.GetControllerOf(c.Pod)
		standsIn := set == nil || set.Kind != "StatefulSet" || other != nil && other.UID == set.UID
		return c.Pod != g.pod && standsIn && snapshot.PodServes(c.Pod)
	}) {
		return report.Degraded
	}
	return ""
}

// GoingObjects are the claim, the PV, the attachments and the pods of a volume that are
// being deleted and have finalizers.
func GoingObjects(pl *evidence.Place) []Going {
	v := pl.Volume
	var out []Going
	add := func(kind string, m *metav1.ObjectMeta, pod *corev1.Pod) {
		if m.DeletionTimestamp != nil && len(m.Finalizers) > 0 {
			out = append(out, Going{kind, m, pod})
		}
	}
	if v.Claim != nil {
		add("PersistentVolumeClaim", &v.Claim.ObjectMeta, nil)
	}
	if v.PV != nil {
		add("PersistentVolume", &v.PV.ObjectMeta, nil)
	}
	for _, va := range v.Attachments {
		add("VolumeAttachment", &va.ObjectMeta, nil)
	}
	for _, c := range v.Consumers {
		add("Pod", &c.Pod.ObjectMeta, c.Pod)
	}
	return out
}

// Full is the object's name with its namespace.
func (g Going) Full() string {
	if g.Namespace == "" {
		return g.Name
	}
	return g.Namespace + "/" + g.Name
}

func (g Going) object() string { return g.Kind + " " + g.Full() }

// GoneFor asks whether the deletion was asked for at least a time ago.
func (g Going) GoneFor(pl *evidence.Place, least time.Duration) evidence.Answer {
	return evidence.When(pl.X.Age(g.DeletionTimestamp.Time) >= least,
		evidence.FromAPI(g.object(), "metadata.deletionTimestamp", g.DeletionTimestamp.UTC().Format(time.RFC3339)))
}

// Foreign is the first finalizer that is neither Kubernetes' own nor one of its sidecars'.
func (g Going) Foreign() string {
	for _, f := range g.Finalizers {
		if !known(f) {
			return f
		}
	}
	return ""
}

// known finalizers are those of Kubernetes and of the CSI sidecars.
func known(f string) bool {
	if strings.HasPrefix(f, "external-attacher/") {
		return true
	}
	return slices.Contains([]string{
		"kubernetes.io/pvc-protection", "provisioner.storage.kubernetes.io/cloning-protection",
		"snapshot.storage.kubernetes.io/pvc-as-source-protection", "kubernetes.io/pv-protection", "kubernetes.io/pv-controller",
		provisioners, "foregroundDeletion", "orphan", "batch.kubernetes.io/job-tracking",
		"snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection",
	}, f)
}

// Unprotected asks whether no known finalizer of the object protects anything now: pods
// of a claim, the claim of a PV, attachments of a PV, containers of a pod. What cannot be
// tested counts as protecting.
func (g Going) Unprotected(pl *evidence.Place) evidence.Answer {
	all := g.idleOf(pl, known)
	if g.pod != nil {
		all = append(all, evidence.When(len(g.pod.Status.ContainerStatuses) > 0 && !pods.Runs(g.pod)))
	}
	return evidence.All(all...)
}

// idleOf asks it of the finalizers that are so.
func (g Going) idleOf(pl *evidence.Place, is func(string) bool) []evidence.Answer {
	return evidence.Each(evidence.Keep(g.Finalizers, is), func(f string) evidence.Answer { return g.idle(pl, f) })
}

// idle asks whether what a known finalizer protects is not there any more.
func (g Going) idle(pl *evidence.Place, f string) evidence.Answer {
	v := pl.Volume
	switch {
	case f == pvcProtection:
		if slices.ContainsFunc(v.Live(), Keeper(v.Claim)) {
			return evidence.No()
		}
		return pl.Consumers().Nothing()
	case f == "kubernetes.io/pv-protection":
		return evidence.When(v.PV == nil || v.PV.Status.Phase != corev1.VolumeBound)
	case strings.HasPrefix(f, "external-attacher/") && g.Kind == "PersistentVolume":
		if len(v.Attachments) > 0 {
			return evidence.No()
		}
		return evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing(evidence.FromAPI(g.object(), "VolumeAttachments", "none of this volume"))
	case f == "orphan":
		return evidence.Yes()
	}
	return evidence.No()
}

// sources are the finalizers of objects from which something is being made, and what that is
// (external-snapshotter: pkg/utils; external-provisioner: pkg/controller/clone_controller.go).
var sources = map[string]string{
	"snapshot.storage.kubernetes.io/pvc-as-source-protection": "volumesnapshots",
	"provisioner.storage.kubernetes.io/cloning-protection":    "persistentvolumeclaims",
}

// Source is the finalizer of a claim that is the source of something, and the resource of which
// that is one.
func (g Going) Source() (finalizer, made string) {
	for _, f := range g.Finalizers {
		if made := sources[f]; made != "" && g.Kind == "PersistentVolumeClaim" {
			return f, made
		}
	}
	return "", ""
}

// AloneAsSource asks whether nothing but that keeps the claim.
func (g Going) AloneAsSource(pl *evidence.Place) evidence.Answer {
	return evidence.All(g.idleOf(pl, func(f string) bool { return sources[f] == "" })...)
}

// Keeps is the fact that the finalizers are still there.
func (g Going) Keeps() evidence.Answer {
	return evidence.Yes(evidence.FromAPI(g.object(), "metadata.finalizers", strings.Join(g.Finalizers, " ")))
}

// provisioners is what external-provisioner sets on a PV, to delete the volume in the storage
// first (HonorPVReclaimPolicy, on by default since its v5.0).
const provisioners = "external-provisioner.volume.kubernetes.io/finalizer"

// Sidecar is the finalizer of a driver's attacher or provisioner on a PV, or empty, and the
// container that takes it off.
func (g Going) Sidecar() (finalizer, container string) {
	for _, f := range g.Finalizers {
		switch {
		case g.Kind != "PersistentVolume":
		case f == provisioners:
			return f, "csi-provisioner"
		case strings.HasPrefix(f, "external-attacher/"):
			finalizer, container = f, "csi-attacher"
		}
	}
	return finalizer, container
}

// AloneForSidecar asks whether nothing but its sidecars' own work is left of a PV: it is bound and
// attached no more.
func (g Going) AloneForSidecar(pl *evidence.Place) evidence.Answer {
	rest := g.idleOf(pl, func(f string) bool { return f != provisioners })
	return evidence.All(append([]evidence.Answer{g.idle(pl, "kubernetes.io/pv-protection")}, rest...)...)
}

// Keeper tells whether a pod keeps a claim that it names: one that was never placed does not, and none that wants a claim
// of this name made for itself (pkg/controller/volume/pvcprotection, podUsesPVC).
func Keeper(claim *corev1.PersistentVolumeClaim) func(*snapshot.Consumer) bool {
	return func(c *snapshot.Consumer) bool {
		return (c.Node() != "" || !c.Waiting()) && (claim == nil || !pods.Borrows(c, claim))
	}
}

// UsedByPods asks whether pods that neither ended nor are overdue use a claim that is being
// deleted, and names them. A pod that goes away and does not go is the matter itself, unless others came too late.
func (g Going) UsedByPods(pl *evidence.Place) (names []string, a evidence.Answer) {
	if g.Kind != "PersistentVolumeClaim" || !slices.Contains(g.Finalizers, pvcProtection) {
		return nil, evidence.No()
	}
	_, late := g.TooLate(pl)
	var facts []report.Evidence
	for _, c := range pl.Volume.Live() {
		if pods.Overdue(pl.X, c.Pod) && !late.Yes() {
			return nil, evidence.No()
		}
		if !Keeper(pl.Volume.Claim)(c) {
			continue
		}
		names = append(names, pods.Name(c.Pod))
		facts = append(facts, evidence.FromPod(c.Pod, "spec.volumes["+c.Volume+"]", "claim "+g.Name))
	}
	return names, evidence.All(evidence.Reading{}.Found(facts...), pl.Consumers().Nothing())
}

// TooLate asks whether pods wait for a claim that is being deleted and cannot get it any more, and
// names them: the scheduler places none with such a claim (plugins/volumebinding), and no kubelet takes it
// up for a pod that came later (desired_state_of_world_populator.go, "PVC is being deleted").
func (g Going) TooLate(pl *evidence.Place) (names []string, a evidence.Answer) {
	if g.Kind != "PersistentVolumeClaim" {
		return nil, evidence.No()
	}
	var facts []report.Evidence
	for _, c := range pl.Volume.Waiting() {
		if c.Node() == "" || c.Pod.CreationTimestamp.After(g.DeletionTimestamp.Time) {
			names = append(names, pods.Name(c.Pod))
			facts = append(facts, evidence.FromPod(c.Pod, "metadata.creationTimestamp", c.Pod.CreationTimestamp.UTC().Format(time.RFC3339)))
		}
	}
	return names, evidence.Reading{}.Found(facts...)
}

// BoundClaim asks whether a volume that is being deleted is kept by the claim that is
// bound to it: pv-protection goes when the claim does (pv_protection_controller.go).
func (g Going) BoundClaim(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	if g.Kind != "PersistentVolume" || c == nil || c.DeletionTimestamp != nil || !slices.Contains(g.Finalizers, "kubernetes.io/pv-protection") {
		return evidence.No()
	}
	return evidence.When(pl.Volume.PV.Status.Phase == corev1.VolumeBound && c.Status.Phase == corev1.ClaimBound && c.Spec.VolumeName == g.Name,
		evidence.FromAPI(Object(c), "spec.volumeName", g.Name), evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)))
}

// Unattachable asks whether the volume's attacher is to attach it and will not: it refuses a volume that is being
// deleted (external-attacher: pkg/controller/csi_handler.go, "is marked for deletion"). It names the nodes.
func (g Going) Unattachable(pl *evidence.Place) (nodes []string, a evidence.Answer) {
	var facts []report.Evidence
	for _, va := range pl.Volume.Attachments {
		e := va.Status.AttachError
		refused := e != nil && strings.Contains(e.Message, "marked for deletion")
		if va.Status.Attached || va.DeletionTimestamp != nil || !refused && !va.CreationTimestamp.After(g.DeletionTimestamp.Time) {
			continue
		}
		nodes, facts = append(nodes, va.Spec.NodeName), append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "false"))
		if refused {
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError.message", e.Message))
		}
	}
	return nodes, evidence.Reading{}.Found(facts...)
}
