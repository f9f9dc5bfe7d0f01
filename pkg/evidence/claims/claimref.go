package claims

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Pair is a claim and a PersistentVolume that name each other, on one side at least.
type Pair struct {
	Claim *corev1.PersistentVolumeClaim
	PV    *corev1.PersistentVolume
}

// Pairs are the volumes that remember the place's claim, and the one that it asks for; of a
// volume without a claim those that ask for it or that it remembers.
func Pairs(pl *evidence.Place) []Pair {
	var out []Pair
	add := func(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
		if p := (Pair{c, pv}); c != nil && pv != nil && c.DeletionTimestamp == nil && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	x, c, pv := pl.X, pl.Volume.Claim, pl.Volume.PV
	switch {
	case c != nil:
		naming, _ := x.PVsFor(c.Namespace, c.Name, "")
		for _, pv := range naming {
			add(c, pv)
		}
		add(c, x.PV(c.Spec.VolumeName))
	case pv != nil && pv.Spec.ClaimRef != nil: // asked about the volume itself: it has no claim
		for _, c := range x.Cluster.Claims {
			if c.Spec.VolumeName == pv.Name {
				add(c, pv)
			}
		}
		add(x.Claim(pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name), pv)
	}
	return out
}

// Remembers asks whether the volume is reserved by name for the claim, or asked for by it,
// but carries the UID of another claim, or of none where the claim was bound once: the controller compares nothing
// else then (syncBoundClaim in pv_controller.go). A volume that failed or goes is no volume to bind.
func (p Pair) Remembers(x *snapshot.Index) evidence.Answer {
	r, c, pv := p.PV.Spec.ClaimRef, p.Claim, p.PV
	if r == nil || r.UID == "" && (c.Status.Phase != corev1.ClaimLost || !p.Named()) || r.UID == c.UID || pv.Status.Phase == corev1.VolumeFailed || pv.DeletionTimestamp != nil {
		return evidence.No()
	}
	named, asked, pending := p.Named(), c.Spec.VolumeName == pv.Name, c.Status.Phase == corev1.ClaimPending
	other := evidence.Yes(evidence.FromAPI("PersistentVolume "+pv.Name, "spec.claimRef.uid", cmp.Or(string(r.UID), "none")), evidence.FromAPI(Object(c), "metadata.uid", string(c.UID)),
		evidence.FromAPI("PersistentVolume "+pv.Name, "status.phase", string(pv.Status.Phase)))
	switch {
	case asked && named, asked && unserved(c) && pv.Status.Phase == corev1.VolumeReleased: // kept for a claim of another name that is gone
		return other
	case named && c.Spec.VolumeName == "" && pending && !provisioned(x, c): // reserved for a claim that can get no other volume
		return other
	}
	return evidence.No()
}

// Named tells whether the volume names the claim.
func (p Pair) Named() bool {
	r := p.PV.Spec.ClaimRef
	return r != nil && r.Namespace == p.Claim.Namespace && r.Name == p.Claim.Name
}

// Forgotten asks whether no claim has the UID that the volume remembers: if one has, there
// are two claims in a true conflict.
func (p Pair) Forgotten(x *snapshot.Index) evidence.Answer {
	r := p.PV.Spec.ClaimRef
	if r.UID == "" {
		return evidence.Yes()
	}
	if slices.ContainsFunc(x.Cluster.Claims, func(o *corev1.PersistentVolumeClaim) bool { return o.UID == r.UID }) {
		return evidence.No()
	}
	return evidence.ResourceIn(x, "/persistentvolumeclaims", r.Namespace).Nothing()
}

// Alone asks whether it is known that the claim's class gives it no volume of its own.
func (p Pair) Alone(x *snapshot.Index) evidence.Answer {
	if p.Claim.Spec.VolumeName != "" {
		return evidence.Yes()
	}
	return evidence.Resource(x, "storage.k8s.io/storageclasses").Nothing()
}

// provisioned tells whether a claim gets a volume of its own from its class: then a volume
// that was kept of an earlier claim of the same name is in nobody's way.
func provisioned(x *snapshot.Index, c *corev1.PersistentVolumeClaim) bool {
	name, set := ClassName(c)
	if !set {
		return slices.ContainsFunc(x.Cluster.StorageClasses, isDefault)
	}
	class := x.Class(name)
	return class != nil && class.Provisioner != NoProvisioner
}

// SaidBoundElsewhere quotes the volume controller or the kubelet.
func SaidBoundElsewhere(pl *evidence.Place) []report.Evidence {
	for _, t := range pl.Texts {
		for _, s := range []string{"already bound to a different claim", "bound to the same volume", "does not point to claim.UID", "pv.Spec.ClaimRef"} {
			if strings.Contains(t.Raw, s) {
				return []report.Evidence{t.Evidence()}
			}
		}
	}
	return nil
}
