package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// PVName is the name of the PV, also of one that the claim names and that is
// gone; or empty.
func (v *Volume) PVName() string {
	switch {
	case v == nil || v.Inline:
		return ""
	case v.PV != nil:
		return v.PV.Name
	case v.Claim != nil:
		return v.Claim.Spec.VolumeName
	}
	return ""
}

// Called is the name of the PV, also of one that a provisioner still makes: it calls it after
// the claim's UID (sig-storage-lib-external-provisioner).
func (v *Volume) Called() string {
	if name := v.PVName(); name != "" || v == nil || v.Claim == nil || v.Claim.UID == "" {
		return name
	}
	return "pvc-" + string(v.Claim.UID)
}

// ClaimRef is the claim's namespace and name, from the claim or the PV.
func (v *Volume) ClaimRef() (namespace, name string) {
	switch {
	case v == nil:
		return "", ""
	case v.Claim != nil:
		return v.Claim.Namespace, v.Claim.Name
	case v.PV != nil && v.PV.Spec.ClaimRef != nil:
		return v.PV.Spec.ClaimRef.Namespace, v.PV.Spec.ClaimRef.Name
	}
	return "", ""
}

// AccessModes are those of the PV, else of the claim, else what Longhorn says.
func (v *Volume) AccessModes() []corev1.PersistentVolumeAccessMode {
	switch {
	case v == nil:
		return nil
	case v.PV != nil && len(v.PV.Spec.AccessModes) > 0:
		return v.PV.Spec.AccessModes
	case v.Claim != nil && len(v.Claim.Spec.AccessModes) > 0:
		return v.Claim.Spec.AccessModes
	case v.Longhorn != nil && v.Longhorn.Volume != nil && v.Longhorn.Volume.AccessMode == "rwx":
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	case v.Longhorn != nil && v.Longhorn.Volume != nil && v.Longhorn.Volume.AccessMode != "":
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	return nil
}

// Exclusive tells whether only one node may have the volume: neither RWX nor
// ROX. The attach-detach controller decides the same way (util.IsMultiAttachAllowed);
// like there, a volume without any access mode is not exclusive.
func (v *Volume) Exclusive() bool {
	modes := v.AccessModes()
	return len(modes) > 0 && !slices.Contains(modes, corev1.ReadWriteMany) && !slices.Contains(modes, corev1.ReadOnlyMany)
}

// SelectedNode is the annotation in which the scheduler writes the node that it chose for a claim which waits for its
// first consumer (pkg/scheduler/framework/plugins/volumebinding).
const SelectedNode = "volume.kubernetes.io/selected-node"

// ChosenNode is the node that the scheduler chose for a claim, so that its provisioner is asked, whatever becomes of
// the pod; empty: none, or there is no claim.
func ChosenNode(c *corev1.PersistentVolumeClaim) string {
	if c == nil {
		return ""
	}
	return c.Annotations[SelectedNode]
}

// BindsLate tells whether a class binds its claims only when a pod uses them (docs: StorageClass,
// volumeBindingMode).
func BindsLate(class *storagev1.StorageClass) bool {
	return class != nil && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// Abandoned tells whether the volume's claim is gone: the PV is what is left of it.
func (v *Volume) Abandoned() bool {
	return v.Claim == nil && v.PV != nil && (v.PV.Status.Phase == corev1.VolumeReleased || v.PV.Status.Phase == corev1.VolumeFailed)
}

// SinglePod tells whether only one pod may have the volume (ReadWriteOncePod).
func (v *Volume) SinglePod() bool {
	return slices.Contains(v.AccessModes(), corev1.ReadWriteOncePod)
}

// Block tells whether the volume is used as a raw block device.
func (v *Volume) Block() bool {
	if v == nil {
		return false
	}
	mode := (*corev1.PersistentVolumeMode)(nil)
	switch {
	case v.PV != nil:
		mode = v.PV.Spec.VolumeMode
	case v.Claim != nil:
		mode = v.Claim.Spec.VolumeMode
	}
	return mode != nil && *mode == corev1.PersistentVolumeBlock
}

// IsLonghorn tells whether the volume is one of Longhorn's.
func (v *Volume) IsLonghorn() bool { return v != nil && v.Longhorn != nil }

// LH returns the volumes.longhorn.io object, or nil.
func (v *Volume) LH() *LHVolume {
	if v == nil || v.Longhorn == nil {
		return nil
	}
	return v.Longhorn.Volume
}

// Tickets are those of Longhorn's attachment of the volume.
func (v *Volume) Tickets() []*LHTicket {
	if v == nil || v.Longhorn == nil || v.Longhorn.Attachment == nil {
		return nil
	}
	return v.Longhorn.Attachment.Tickets
}

// RegularRWX tells whether Longhorn shares the volume over NFS: access mode rwx
// and not migratable (a migratable one is a block device on two nodes).
func (v *Volume) RegularRWX() bool {
	if !v.IsLonghorn() {
		return false
	}
	if lh := v.LH(); lh != nil {
		return lh.AccessMode == "rwx" && !lh.Migratable
	}
	return slices.Contains(v.AccessModes(), corev1.ReadWriteMany) && !v.Block() &&
		v.Attribute("migratable") != "true"
}

// Attribute is a volumeAttribute of the PV's CSI source, or an option of its
// FlexVolume.
func (v *Volume) Attribute(name string) string {
	if v == nil || v.PV == nil {
		return ""
	}
	if csi := v.PV.Spec.CSI; csi != nil {
		return csi.VolumeAttributes[name]
	}
	if flex := v.PV.Spec.FlexVolume; flex != nil {
		return flex.Options[name]
	}
	return ""
}

// FSType is the filesystem that the PV asks for; empty: the driver's default.
func (v *Volume) FSType() string {
	if v == nil || v.PV == nil {
		return ""
	}
	s := v.PV.Spec
	switch {
	case s.CSI != nil && s.CSI.FSType != "":
		return s.CSI.FSType
	case s.RBD != nil:
		return s.RBD.FSType
	case s.ISCSI != nil:
		return s.ISCSI.FSType
	case s.FC != nil:
		return s.FC.FSType
	case s.FlexVolume != nil:
		return s.FlexVolume.FSType
	case s.AWSElasticBlockStore != nil:
		return s.AWSElasticBlockStore.FSType
	case s.GCEPersistentDisk != nil:
		return s.GCEPersistentDisk.FSType
	case s.Cinder != nil:
		return s.Cinder.FSType
	case s.AzureDisk != nil && s.AzureDisk.FSType != nil:
		return *s.AzureDisk.FSType
	case s.Local != nil && s.Local.FSType != nil:
		return *s.Local.FSType
	}
	if t := v.Attribute("csi.storage.k8s.io/fstype"); t != "" {
		return t
	}
	return v.Attribute("fsType")
}

// Encrypted tells whether the driver opens the volume with LUKS on the node: a
// Longhorn volume that says so, or a PV with the attribute encrypted=true (HPE:
// hostEncryption, Trident: luksEncryption, Linode and cloudscale: DRIVER/luks-encrypted).
func (v *Volume) Encrypted() bool {
	if lh := v.LH(); lh != nil && lh.Encrypted {
		return true
	}
	for _, a := range []string{"encrypted", "hostEncryption", "luksEncryption", v.CSIName() + "/luks-encrypted"} {
		if v.Attribute(a) == "true" {
			return true
		}
	}
	return v.IsLonghorn() && v.LH() == nil && v.Class != nil && v.Class.Parameters["encrypted"] == "true"
}

// OfPartition tells whether the volume is one partition of a disk: the number stands in an
// in-tree PV, or in the attribute that its migration to CSI makes of it.
func (v *Volume) OfPartition() bool {
	if v.PV == nil {
		return false
	}
	ebs, gce := v.PV.Spec.AWSElasticBlockStore, v.PV.Spec.GCEPersistentDisk
	return ebs != nil && ebs.Partition > 0 || gce != nil && gce.Partition > 0 || !slices.Contains([]string{"", "0"}, v.Attribute("partition"))
}

// AttachRequired tells whether the driver uses VolumeAttachments: a CSI driver
// unless its CSIDriver object says no; an in-tree one only after migration.
func (v *Volume) AttachRequired(x *Index) bool {
	if v == nil {
		return false
	}
	driver := v.Driver
	if v.PV == nil || v.PV.Spec.CSI == nil {
		if len(v.Attachments) > 0 {
			return true
		}
		if driver = v.CSIName(); driver == "" {
			return false
		}
	}
	if v.Inline && v.PV != nil && v.PV.Spec.CSI != nil { // an ephemeral volume is published only (CanAttach in pkg/volume/csi)
		return false
	}
	d := x.CSIDriver(driver)
	return d == nil || d.Spec.AttachRequired == nil || *d.Spec.AttachRequired
}

// AttachmentOn returns the VolumeAttachment to a node, or nil. Of several the
// one that is attached comes first.
func (v *Volume) AttachmentOn(node string) *storagev1.VolumeAttachment {
	if v == nil {
		return nil
	}
	var found *storagev1.VolumeAttachment
	for _, va := range v.Attachments {
		if va.Spec.NodeName == node && (found == nil || (va.Status.Attached && !found.Status.Attached)) {
			found = va
		}
	}
	return found
}
