package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// PVName is the name of the PV, or empty.
func (v *Volume) PVName() string { return "" }

// ClaimRef is the claim's namespace and name, from the claim or the PV.
func (v *Volume) ClaimRef() (namespace, name string) { return "", "" }

// AccessModes are those of the PV, else of the claim.
func (v *Volume) AccessModes() []corev1.PersistentVolumeAccessMode { return nil }

// Exclusive tells whether only one node may have the volume.
func (v *Volume) Exclusive() bool { return false }

// Block tells whether the volume is used as a raw block device.
func (v *Volume) Block() bool { return false }

// RegularRWX tells whether Longhorn shares the volume over NFS.
func (v *Volume) RegularRWX() bool { return false }

// Encrypted tells whether the volume is a LUKS volume of its driver.
func (v *Volume) Encrypted() bool { return false }

// AttachRequired tells whether the driver uses VolumeAttachments.
func (v *Volume) AttachRequired(x *Index) bool { return true }

// UniqueName is the volume's name in the status of nodes.
func (v *Volume) UniqueName() string { return "" }

// AttachmentOn returns the VolumeAttachment to a node, or nil.
func (v *Volume) AttachmentOn(node string) *storagev1.VolumeAttachment { return nil }

// Waiting returns the consumers that do not run yet.
func (v *Volume) Waiting() []*Consumer { return nil }

// Live returns the consumers that have not finished.
func (v *Volume) Live() []*Consumer { return nil }

// Terminating returns the consumers that are being deleted.
func (v *Volume) Terminating() []*Consumer { return nil }

// Running returns the live consumers with a running container.
func (v *Volume) Running() []*Consumer { return nil }

// LiveConsumersOn returns the live consumers bound to a node.
func (v *Volume) LiveConsumersOn(node string) []*Consumer { return nil }

// Waiting tells whether the pod is live and does not run its containers yet.
func (c *Consumer) Waiting() bool { return false }

// Live tells whether the pod has not finished.
func (c *Consumer) Live() bool { return false }

// Terminating tells whether the pod is being deleted.
func (c *Consumer) Terminating() bool { return false }
