package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Asks asks whether an unbound claim names the volume that it wants, and the volume is free:
// reserved for no claim, and not on its way out. Only then is the volume compared with the
// claim; one that is reserved for it binds unseen (syncUnboundClaim of
// pkg/controller/volume/persistentvolume).
func Asks(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) evidence.Answer {
	return evidence.When(c.Status.Phase == corev1.ClaimPending && c.DeletionTimestamp == nil && c.Spec.VolumeName == pv.Name &&
		pv.Spec.ClaimRef == nil && pv.DeletionTimestamp == nil,
		evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)),
		evidence.FromAPI(Object(c), "spec.volumeName", c.Spec.VolumeName),
		evidence.FromAPI("PersistentVolume "+pv.Name, "status.phase", string(pv.Status.Phase)))
}

// Names asks whether a claim that has no volume yet names the one that it wants.
func Names(c *corev1.PersistentVolumeClaim) evidence.Answer {
	return evidence.When(c.Status.Phase == corev1.ClaimPending && c.Spec.VolumeName != "" && c.DeletionTimestamp == nil,
		evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)), evidence.FromAPI(Object(c), "spec.volumeName", c.Spec.VolumeName))
}

// Taken asks whether the volume that a claim names belongs to a claim of another name: the controller leaves
// both as they are while the claim is pending (syncUnboundClaim in pv_controller.go), and calls one that was bound
// Lost for ever (syncBoundClaim, event ClaimMisbound). A volume that was released, or whose reclaim failed, belongs
// to nobody any more.
func Taken(x *snapshot.Index, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) (other string, is evidence.Answer) {
	r := pv.Spec.ClaimRef
	if r == nil || !unserved(c) || c.DeletionTimestamp != nil || pv.DeletionTimestamp != nil || c.Spec.VolumeName != pv.Name ||
		r.Namespace == c.Namespace && r.Name == c.Name || pv.Status.Phase == corev1.VolumeReleased || pv.Status.Phase == corev1.VolumeFailed {
		return "", evidence.No()
	}
	is = evidence.Yes(evidence.FromAPI(Object(c), "spec.volumeName", c.Spec.VolumeName),
		evidence.FromAPI("PersistentVolume "+pv.Name, "spec.claimRef", r.Namespace+"/"+r.Name),
		evidence.FromAPI("PersistentVolume "+pv.Name, "status.phase", string(pv.Status.Phase)))
	return r.Namespace + "/" + r.Name, is
}

// unserved tells whether a claim has no volume: it waits for one, or the controller has taken it from the claim.
func unserved(c *corev1.PersistentVolumeClaim) bool {
	return c.Status.Phase == corev1.ClaimPending || c.Status.Phase == corev1.ClaimLost
}

// MadeOtherwise asks whether a volume was made for a pending claim and lacks its class of
// attributes: it is the claim's, and the controller binds no two that differ in this
// (FindMatchingVolume in component-helpers/storage/volume). A provisioner that knows no such classes makes
// one like that.
func MadeOtherwise(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) (why string, is evidence.Answer) {
	r, have, want := pv.Spec.ClaimRef, deref(pv.Spec.VolumeAttributesClassName), deref(c.Spec.VolumeAttributesClassName)
	if r == nil || r.UID == "" || r.UID != c.UID || c.Status.Phase != corev1.ClaimPending || c.DeletionTimestamp != nil || pv.DeletionTimestamp != nil || have == want {
		return "", evidence.No()
	}
	return fmt.Sprintf("its volumeAttributesClassName is %s and that of the claim %s", cmp.Or(have, "empty"), cmp.Or(want, "empty")),
		evidence.Yes(evidence.FromAPI("PersistentVolume "+pv.Name, "spec.claimRef", r.Namespace+"/"+r.Name),
			evidence.FromAPI("PersistentVolume "+pv.Name, "spec.volumeAttributesClassName", cmp.Or(have, "empty")),
			evidence.FromAPI(Object(c), "spec.volumeAttributesClassName", cmp.Or(want, "empty")))
}

// Reserved asks what of a volume that is reserved for a pending claim by name does not satisfy the claim, which names no
// volume itself: size, modes and class of attributes are compared then, class and selector are not (FindMatchingVolume
// in component-helpers/storage/volume).
func Reserved(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) (lacks []string, is evidence.Answer) {
	r := pv.Spec.ClaimRef
	if r == nil || r.UID != "" && r.UID != c.UID || c.Status.Phase != corev1.ClaimPending || c.DeletionTimestamp != nil || pv.DeletionTimestamp != nil {
		return nil, evidence.No()
	}
	lacks = unfit(pv, c)
	return lacks, evidence.When(len(lacks) > 0, evidence.FromAPI("PersistentVolume "+pv.Name, "spec.claimRef", r.Namespace+"/"+r.Name),
		evidence.FromAPI("PersistentVolume "+pv.Name, "spec compared with the claim", strings.Join(lacks, ", ")))
}

// Owns asks whether the claim that a volume is reserved for is there; one that is reserved
// by name alone waits for it.
func Owns(x *snapshot.Index, pv *corev1.PersistentVolume) evidence.Answer {
	r := pv.Spec.ClaimRef
	if r == nil || r.UID == "" {
		return evidence.Yes()
	}
	if o := x.Claim(r.Namespace, r.Name); o != nil && o.UID == r.UID {
		return evidence.Yes(evidence.FromAPI(Object(o), "metadata.uid", string(o.UID)))
	}
	return evidence.Unseen(evidence.Lack{Need: "claim " + r.Namespace + "/" + r.Name + " with the uid " + string(r.UID), Why: "it was not seen"})
}

// Differs asks what of a volume does not satisfy the claim that names it: size, class,
// volume mode, access modes, as checkVolumeSatisfyClaim compares them.
func Differs(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) (words []string, is evidence.Answer) {
	words = unfit(pv, c)
	want, _ := ClassName(c)
	if have := ClassOf(pv); have != want {
		words = append(words, fmt.Sprintf("its class is %s and that of the claim %s", cmp.Or(have, "empty"), cmp.Or(want, "empty")))
	}
	return words, evidence.When(len(words) > 0,
		evidence.FromAPI("PersistentVolume "+pv.Name, "spec compared with the claim", strings.Join(words, ", ")))
}

// DefaultFor is the class of a claim when it is the default of the cluster and not that of
// the volume which the claim names: then nobody need have written it into the claim.
func DefaultFor(x *snapshot.Index, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) string {
	name, _ := ClassName(c)
	if s := x.Class(name); s != nil && isDefault(s) && ClassOf(pv) != name {
		return name
	}
	return ""
}

// ClassOf is the class of a volume (GetPersistentVolumeClass of component-helpers/storage/volume).
func ClassOf(pv *corev1.PersistentVolume) string {
	if n, ok := pv.Annotations["volume.beta.kubernetes.io/storage-class"]; ok {
		return n
	}
	return pv.Spec.StorageClassName
}

// SaidMismatch quotes the controller that compared claim and volume, if it is still to be read.
func SaidMismatch(pl *evidence.Place) []report.Evidence {
	i := slices.IndexFunc(pl.Texts, func(t evidence.Text) bool { return strings.Contains(t.Raw, "Cannot bind to requested volume") })
	if i < 0 {
		return nil
	}
	return []report.Evidence{pl.Texts[i].Evidence()}
}
