package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ClassName is the class that a claim asks for; an empty name that is set asks for a
// volume that somebody made by hand.
func ClassName(c *corev1.PersistentVolumeClaim) (name string, set bool) {
	if n, ok := c.Annotations["volume.beta.kubernetes.io/storage-class"]; ok {
		return n, true
	}
	if n := c.Spec.StorageClassName; n != nil {
		return *n, true
	}
	return "", false
}

// Unbound asks whether a claim waits for a volume, and nobody takes the claim away.
func Unbound(c *corev1.PersistentVolumeClaim) evidence.Answer {
	return evidence.When(c.Status.Phase == corev1.ClaimPending && c.Spec.VolumeName == "" && c.DeletionTimestamp == nil,
		evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)))
}

// Usable asks whether a claim has its volume, and nobody takes the claim away: kubelet gives a pod
// no other (getPVCExtractPV in pkg/kubelet/volumemanager/populator).
func Usable(c *corev1.PersistentVolumeClaim) evidence.Answer {
	return evidence.When(c.Status.Phase == corev1.ClaimBound && c.Spec.VolumeName != "" && c.DeletionTimestamp == nil,
		evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)))
}

// NoClass asks whether no StorageClass serves a claim: none of the name that it gives, or
// no default for one that gives none.
func NoClass(x *snapshot.Index, c *corev1.PersistentVolumeClaim) evidence.Answer {
	name, set := ClassName(c)
	whole := evidence.Resource(x, "storage.k8s.io/storageclasses")
	asked := evidence.FromAPI(Object(c), "spec.storageClassName", name)
	switch {
	case set && (name == "" || x.Class(name) != nil):
		return evidence.No()
	case set:
		return whole.Nothing(asked)
	case slices.ContainsFunc(x.Cluster.StorageClasses, isDefault):
		return evidence.No()
	}
	asked.Text = "not set"
	return whole.Nothing(asked)
}

// isDefault tells whether a class serves claims that name none.
func isDefault(s *storagev1.StorageClass) bool {
	return s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || s.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

// Classes are the names of the classes of the cluster.
func Classes(x *snapshot.Index) []string {
	out := evidence.Each(x.Cluster.StorageClasses, func(s *storagev1.StorageClass) string { return s.Name })
	slices.Sort(out)
	return out
}

// ForClaim asks whether a volume made by hand is there, or kept, for a claim: the name of a
// class that no object has is a label that claim and volume share (FindMatchingVolume of
// component-helpers/storage/volume).
func ForClaim(x *snapshot.Index, c *corev1.PersistentVolumeClaim) evidence.Answer {
	class, _ := ClassName(c)
	naming, free := x.PVsFor(c.Namespace, c.Name, class)
	for _, pv := range slices.Concat(naming, free) {
		kept := pv.Spec.ClaimRef != nil && pv.Spec.StorageClassName == class
		if kept || pv.Spec.ClaimRef == nil && pv.Status.Phase == corev1.VolumeAvailable && len(apart(pv, c)) == 0 {
			return evidence.Yes(evidence.FromAPI("PersistentVolume "+pv.Name, "spec.storageClassName", class))
		}
	}
	return evidence.Not(evidence.Resource(x, "/persistentvolumes").Nothing())
}

// mostUnfit is how many volumes that do not fit a claim are evidence of it.
const mostUnfit = 8

// Unfit are volumes that carry a claim's class and do not fit it, each with what keeps it
// apart; those that no claim has come first.
func Unfit(x *snapshot.Index, c *corev1.PersistentVolumeClaim) (words []string, facts []report.Evidence) {
	class, set := ClassName(c)
	if !set {
		return nil, nil
	}
	var free, bound []*corev1.PersistentVolume
	for _, pv := range x.Cluster.PVs {
		switch {
		case pv.Spec.StorageClassName != class:
		case pv.Spec.ClaimRef == nil:
			free = append(free, pv)
		default:
			bound = append(bound, pv)
		}
	}
	for _, pv := range append(free, bound...) {
		why := apart(pv, c)
		switch r := pv.Spec.ClaimRef; {
		case r != nil:
			why = append([]string{fmt.Sprintf("it is bound to claim %s/%s", r.Namespace, r.Name)}, why...)
		case pv.Status.Phase != corev1.VolumeAvailable:
			why = append([]string{"its phase is " + string(pv.Status.Phase)}, why...)
		}
		text := strings.Join(why, ", ")
		words = append(words, "PersistentVolume "+pv.Name+" ("+text+")")
		if len(facts) < mostUnfit {
			facts = append(facts, evidence.FromAPI("PersistentVolume "+pv.Name, "spec compared with the claim", text))
		}
	}
	return words, facts
}

// apart says which fields keep a volume from a claim: size, access modes, volume mode,
// selector.
func apart(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) []string {
	out := unfit(pv, c)
	if c.Spec.Selector != nil {
		if s, err := metav1.LabelSelectorAsSelector(c.Spec.Selector); err != nil || !s.Matches(labels.Set(pv.Labels)) {
			out = append(out, fmt.Sprintf("its labels (%s) do not match the claim's selector (%s)", cmp.Or(labels.Set(pv.Labels).String(), "none"), metav1.FormatLabelSelector(c.Spec.Selector)))
		}
	}
	return out
}

// unfit is apart without the selector, which a claim that names its volume is not asked for.
func unfit(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) []string {
	var out []string
	have, want := pv.Spec.Capacity[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
	if have.Cmp(want) < 0 {
		out = append(out, fmt.Sprintf("its size %s is less than %s", have.String(), want.String()))
	}
	for _, m := range c.Spec.AccessModes {
		if !slices.Contains(pv.Spec.AccessModes, m) {
			out = append(out, fmt.Sprintf("its access modes %v lack %s", pv.Spec.AccessModes, m))
		}
	}
	if a, b := block(pv.Spec.VolumeMode), block(c.Spec.VolumeMode); a != b {
		out = append(out, "one of the two has volumeMode Block and the other has not")
	}
	if a, b := deref(pv.Spec.VolumeAttributesClassName), deref(c.Spec.VolumeAttributesClassName); a != b {
		out = append(out, fmt.Sprintf("its volumeAttributesClassName is %s and that of the claim %s", cmp.Or(a, "empty"), cmp.Or(b, "empty")))
	}
	return out
}

func block(m *corev1.PersistentVolumeMode) bool {
	return m != nil && *m == corev1.PersistentVolumeBlock
}

// SaidNoClass quotes what the controller said of the class, if anything.
func SaidNoClass(pl *evidence.Place) []report.Evidence {
	return pl.Texts.Say(speaksOfNoClass).Facts()
}

func speaksOfNoClass(t evidence.Text) bool {
	return strings.Contains(t.Raw, "storageclass.storage.k8s.io") || strings.Contains(t.Raw, "no storage class is set")
}

// ToldNoClass asks whether the controller that binds claims says now that the class is
// not there: it reads the classes itself (pkg/controller/volume/persistentvolume).
func ToldNoClass(pl *evidence.Place) evidence.Answer {
	return pl.Texts.Say(func(t evidence.Text) bool {
		return t.Fresh && t.Component == "persistentvolume-controller" && speaksOfNoClass(t)
	})
}
