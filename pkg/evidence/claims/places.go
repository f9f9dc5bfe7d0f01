package claims

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// VolumesFor are the volumes of a pod, each with the places where the pod can have it. A claim that waits for its pod
// and that no class makes a volume for gets one of those that are free: it has their places together, as the scheduler
// looks for one on every node (findMatchingVolumes in pkg/scheduler/framework/plugins/volumebinding/binder.go).
func VolumesFor(x *snapshot.Index, pod *corev1.Pod) []*snapshot.Volume {
	return evidence.Each(x.VolumesOfPod(pod), func(v *snapshot.Volume) *snapshot.Volume {
		if places := placesOfFree(x, v); places != nil {
			stand := *v
			stand.PV = places
			return &stand
		}
		return v
	})
}

// placesOfFree is a volume with the places of all that are free for a claim, under the name of the first; nil
// where the claim has one, gets one made, or may get one that can be used everywhere.
func placesOfFree(x *snapshot.Index, v *snapshot.Volume) *corev1.PersistentVolume {
	c := v.Claim
	if v.PV != nil || c == nil || c.Spec.VolumeName != "" || v.Class == nil || v.Class.Provisioner != NoProvisioner || !snapshot.BindsLate(v.Class) {
		return nil
	}
	kept, free := x.PVsFor(c.Namespace, c.Name, v.Class.Name)
	if len(kept) > 0 {
		return nil // it gets that one, or none
	}
	free = evidence.Keep(free, func(pv *corev1.PersistentVolume) bool {
		return pv.Spec.ClaimRef == nil && pv.Status.Phase == corev1.VolumeAvailable && len(apart(pv, c)) == 0
	})
	slices.SortFunc(free, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	out := &corev1.NodeSelector{}
	for _, pv := range free {
		if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
			return nil
		}
		out.NodeSelectorTerms = append(out.NodeSelectorTerms, pv.Spec.NodeAffinity.Required.NodeSelectorTerms...)
	}
	if len(free) == 0 {
		return nil
	}
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: free[0].Name}, Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{Required: out}}}
}
