package provision

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// dynamic tells whether somebody shall make a volume for the claim now: it is Pending,
// its class has a provisioner, and the node is chosen or does not matter.
func dynamic(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) bool {
	if c == nil || class == nil || c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimPending || c.Spec.VolumeName != "" {
		return false
	}
	calls := class.Provisioner != "" && class.Provisioner != claims.NoProvisioner
	return calls && (!snapshot.BindsLate(class) || snapshot.ChosenNode(c) != "")
}

// populated tells whether a volume populator works for the claim.
func populated(c *corev1.PersistentVolumeClaim) bool {
	_, resource, _ := claims.Populator(c)
	return resource != ""
}

// Asked is the name of the provisioner that shall act, under which it is known as a CSI
// driver; empty while the volume is made inside kube-controller-manager.
func Asked(v *snapshot.Volume) string {
	name := v.Class.Provisioner
	if !strings.HasPrefix(name, "kubernetes.io/") {
		return name
	}
	csi := v.CSIName()
	if csi == "" || snapshot.ProvisionerOf(v.Claim) != csi && v.Claim.Annotations["pv.kubernetes.io/migrated-to"] != csi {
		return ""
	}
	return csi
}

// Uncalled tells whether somebody outside of the PV controller shall make the volume now, and
// that has not been called.
func Uncalled(v *snapshot.Volume) bool {
	return dynamic(v.Claim, v.Class) && snapshot.ProvisionerOf(v.Claim) == ""
}
