package filesystem

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ForReading asks whether the volume itself is for reading alone, whoever mounts it: what gives its disk may then
// close it for writing.
func ForReading(v *snapshot.Volume) evidence.Answer {
	if v.PV != nil && sourceReadOnly(&v.PV.Spec.PersistentVolumeSource) {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec", "read-only"))
	}
	if modes := v.AccessModes(); len(modes) == 1 && modes[0] == corev1.ReadOnlyMany {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.accessModes", string(modes[0])))
	}
	return evidence.No()
}

// AskedReadOnly asks whether somebody wanted the volume read-only on the place's node: the
// PV, its mount options or access modes, or every pod that uses it there.
func AskedReadOnly(pl *evidence.Place) evidence.Answer {
	v := pl.Volume
	if only := ForReading(v); only.Yes() {
		return only
	}
	if v.PV != nil && slices.Contains(v.PV.Spec.MountOptions, "ro") {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec", "read-only"))
	}
	live := v.LiveConsumersOn(pl.Node)
	if slices.ContainsFunc(live, func(c *snapshot.Consumer) bool { return !claimReadOnly(c.Pod, c.Volume) }) {
		return evidence.No()
	}
	if len(live) == 0 {
		return pl.Consumers().Found()
	}
	return evidence.Yes(evidence.FromPod(live[0].Pod, "spec.volumes["+live[0].Volume+"].persistentVolumeClaim.readOnly", "true"))
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

// claimReadOnly looks at the pod's volume; a volumeMount's readOnly is a bind mount and
// never reaches the superblock.
func claimReadOnly(pod *corev1.Pod, volume string) bool {
	for _, x := range pod.Spec.Volumes {
		if x.Name == volume && x.PersistentVolumeClaim != nil {
			return x.PersistentVolumeClaim.ReadOnly
		}
	}
	return false
}
