package snapshot

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// The annotations by which the PV controller hands a claim to a provisioner outside of
// it: the name that provisioners read today, and the one that older ones read
// (pkg/controller/volume/persistentvolume, setClaimProvisioner).
const (
	ProvisionerNow  = "volume.kubernetes.io/storage-provisioner"
	ProvisionerBeta = "volume.beta.kubernetes.io/storage-provisioner"
)

// provisionedBy is written onto a PersistentVolume by whoever made it for a claim.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// ProvisionerOf is the provisioner that was asked to make the claim's volume, or empty.
func ProvisionerOf(c *corev1.PersistentVolumeClaim) string {
	if c == nil {
		return ""
	}
	return cmp.Or(c.Annotations[ProvisionerNow], c.Annotations[ProvisionerBeta])
}

// MadeBy is the provisioner that made a PersistentVolume, empty where a person did or nobody says.
func MadeBy(pv *corev1.PersistentVolume) string {
	if pv == nil {
		return ""
	}
	return pv.Annotations[provisionedBy]
}

// Provisioner is who makes, or has made, the volume: by its class, else by its PersistentVolume or its claim, which
// may be all that is left or that may be read.
func (v *Volume) Provisioner() string {
	if v.Class != nil {
		return v.Class.Provisioner
	}
	return cmp.Or(MadeBy(v.PV), ProvisionerOf(v.Claim))
}
