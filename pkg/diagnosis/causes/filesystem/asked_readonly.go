package filesystem

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// askedReadOnly tells whether somebody wanted the volume read-only on a node: the
// PV, its mount options or access modes, or every pod that uses it there.
func askedReadOnly(v *snapshot.Volume, node string) bool {
	if v.PV != nil && (sourceReadOnly(&v.PV.Spec.PersistentVolumeSource) || slices.Contains(v.PV.Spec.MountOptions, "ro")) {
		return true
	}
	if modes := v.AccessModes(); len(modes) == 1 && modes[0] == corev1.ReadOnlyMany {
		return true
	}
	live := v.LiveConsumersOn(node)
	for _, c := range live {
		if !claimReadOnly(c.Pod, c.Volume) {
			return false
		}
	}
	return len(live) > 0
}

func sourceReadOnly(s *corev1.PersistentVolumeSource) bool {
	switch {
	case s.CSI != nil:
		return s.CSI.ReadOnly
	case s.ISCSI != nil:
		return s.ISCSI.ReadOnly
	case s.FC != nil:
		return s.FC.ReadOnly
	case s.RBD != nil:
		return s.RBD.ReadOnly
	case s.GCEPersistentDisk != nil:
		return s.GCEPersistentDisk.ReadOnly
	case s.AWSElasticBlockStore != nil:
		return s.AWSElasticBlockStore.ReadOnly
	case s.Cinder != nil:
		return s.Cinder.ReadOnly
	case s.AzureDisk != nil:
		return s.AzureDisk.ReadOnly != nil && *s.AzureDisk.ReadOnly
	case s.FlexVolume != nil:
		return s.FlexVolume.ReadOnly
	case s.PortworxVolume != nil:
		return s.PortworxVolume.ReadOnly
	}
	return false
}

// claimReadOnly looks at the pod's volume; a volumeMount's readOnly is a bind mount
// and never reaches the superblock.
func claimReadOnly(pod *corev1.Pod, volume string) bool {
	for _, x := range pod.Spec.Volumes {
		if x.Name == volume && x.PersistentVolumeClaim != nil {
			return x.PersistentVolumeClaim.ReadOnly
		}
	}
	return false
}
