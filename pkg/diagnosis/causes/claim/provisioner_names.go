package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// The annotations by which the PV controller hands a claim to a provisioner outside of
// it: the name that provisioners read today, and the one that older ones read
// (pkg/controller/volume/persistentvolume, setClaimProvisioner).
const (
	provisionerNow  = "volume.kubernetes.io/storage-provisioner"
	provisionerBeta = "volume.beta.kubernetes.io/storage-provisioner"
)

// noProvisioner is the provisioner of classes whose volumes an administrator makes.
const noProvisioner = "kubernetes.io/no-provisioner"

// provisionerOf is the provisioner that was asked to make the claim's volume, or empty.
func provisionerOf(c *corev1.PersistentVolumeClaim) string {
	if d := c.Annotations[provisionerNow]; d != "" {
		return d
	}
	return c.Annotations[provisionerBeta]
}

// dynamic tells whether somebody shall make a volume for the claim now: it is Pending,
// its class has a provisioner, and the node is chosen or does not matter.
func dynamic(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) bool {
	if c == nil || class == nil || c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimPending || c.Spec.VolumeName != "" {
		return false
	}
	if class.Provisioner == "" || class.Provisioner == noProvisioner {
		return false
	}
	late := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	return !late || c.Annotations[claims.SelectedNode] != ""
}
