package snapshot

import corev1 "k8s.io/api/core/v1"

// VolumeOfPV returns the volume of a PV, or nil.
func (x *Index) VolumeOfPV(name string) *Volume { return nil }

// VolumeOfClaim returns the volume of a claim, or nil.
func (x *Index) VolumeOfClaim(namespace, name string) *Volume { return nil }

// VolumeOfLonghorn returns the volume of a Longhorn volume, or nil.
func (x *Index) VolumeOfLonghorn(name string) *Volume { return nil }

// VolumeByHandle returns the volume of a driver and its handle, or nil.
func (x *Index) VolumeByHandle(driver, handle string) *Volume { return nil }

// VolumesOfPod returns the persistent volumes of a pod, in the pod's order.
func (x *Index) VolumesOfPod(pod *corev1.Pod) []*Volume { return nil }

// VolumesOn returns the volumes that are attached to a node, in use, mounted or
// consumed there.
func (x *Index) VolumesOn(node string) []*Volume { return nil }

// DeviceNodes returns the nodes that should have the volume's block device.
func (x *Index) DeviceNodes(v *Volume) []string { return nil }

// OtherNodes returns every other node with a trace of the volume.
func (x *Index) OtherNodes(v *Volume) []string { return nil }

// ReportedInUse tells whether the kubelet of a node lists the volume in
// status.volumesInUse.
func (x *Index) ReportedInUse(node string, v *Volume) bool { return false }

// ReportedAttached tells whether the attach-detach controller lists the volume
// in the node's status.volumesAttached.
func (x *Index) ReportedAttached(node string, v *Volume) bool { return false }
