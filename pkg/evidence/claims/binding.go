// Package claims answers questions about claims: do they bind, grow, and go away.
package claims

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Object is how a claim is called in evidence.
func Object(c *corev1.PersistentVolumeClaim) string {
	return "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
}

// WaitsForConsumer asks whether a claim is not bound because its class waits for a pod to
// be placed, and nobody chose a node yet.
func WaitsForConsumer(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	if c == nil || c.Status.Phase != corev1.ClaimPending || c.Spec.VolumeName != "" || snapshot.ChosenNode(c) != "" {
		return evidence.No()
	}
	pending := evidence.Yes(evidence.FromAPI(Object(c), "status.phase", "Pending"))
	return evidence.All(pending, lateBinding(pl.X, pl.Volume))
}

func lateBinding(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	if v.Class == nil {
		return evidence.Not(evidence.Resource(x, "storage.k8s.io/storageclasses").Nothing())
	}
	return evidence.When(snapshot.BindsLate(v.Class), evidence.FromAPI("StorageClass "+v.Class.Name, "volumeBindingMode", string(storagev1.VolumeBindingWaitForFirstConsumer)))
}
