package snapshot

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// lookups are the maps behind Index, filled once by NewIndex.
type lookups struct{}

// NewIndex computes the index of a snapshot, which must not change afterwards.
func NewIndex(s *Snapshot) *Index { return &Index{Snapshot: s, NodeViews: map[string]*NodeView{}} }

// Pod returns a pod by name, or nil.
func (x *Index) Pod(namespace, name string) *corev1.Pod { return nil }

// PodByUID returns the pod of a UID as it stands in a cgroup, or nil.
func (x *Index) PodByUID(uid string) *corev1.Pod { return nil }

// Node returns a node by name, or nil.
func (x *Index) Node(name string) *corev1.Node { return nil }

// Claim returns a claim by name, or nil.
func (x *Index) Claim(namespace, name string) *corev1.PersistentVolumeClaim { return nil }

// PV returns a persistent volume by name, or nil.
func (x *Index) PV(name string) *corev1.PersistentVolume { return nil }

// Class returns a storage class by name, or nil.
func (x *Index) Class(name string) *storagev1.StorageClass { return nil }

// CSIDriver returns a CSIDriver object by name, or nil.
func (x *Index) CSIDriver(name string) *storagev1.CSIDriver { return nil }

// CSINode returns the CSINode of a node, or nil.
func (x *Index) CSINode(name string) *storagev1.CSINode { return nil }

// Attachment returns a VolumeAttachment by name, or nil.
func (x *Index) Attachment(name string) *storagev1.VolumeAttachment { return nil }

// PodsOn returns the pods bound to a node.
func (x *Index) PodsOn(node string) []*corev1.Pod { return nil }

// PodsOfClaim returns the pods that name a claim.
func (x *Index) PodsOfClaim(namespace, claim string) []*corev1.Pod { return nil }

// Events returns the events about an object, oldest first.
func (x *Index) Events(kind, namespace, name string) []*Event { return nil }

// LogsOf returns the log tails of a pod.
func (x *Index) LogsOf(namespace, pod string) []Log { return nil }

// HasDriver tells whether a CSI driver is registered on a node; known is false
// when CSINodes were not collected.
func (x *Index) HasDriver(node, driver string) (registered, known bool) { return false, false }

// DriverDaemonSet returns the DaemonSet of a driver's node plugin, or nil.
func (x *Index) DriverDaemonSet(driver string) *appsv1.DaemonSet { return nil }

// DriverPods returns the pods of a driver's node plugin.
func (x *Index) DriverPods(driver string) []*corev1.Pod { return nil }

// DriverPodOn returns the driver's plugin pod on a node, or nil.
func (x *Index) DriverPodOn(driver, node string) *corev1.Pod { return nil }

// SidecarPods returns the pods that run a sidecar ("csi-attacher",
// "csi-provisioner", "csi-resizer") for a driver.
func (x *Index) SidecarPods(driver, sidecar string) []*corev1.Pod { return nil }

// WhyNotScheduled names the first thing that keeps a DaemonSet off a node.
func (x *Index) WhyNotScheduled(ds *appsv1.DaemonSet, node string) (reason string, ok bool) {
	return "", false
}
