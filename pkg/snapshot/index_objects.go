package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Pod returns a pod by name, or nil.
func (x *Index) Pod(namespace, name string) *corev1.Pod { return x.pods[key{namespace, name}] }

// PodByUID returns the pod of a UID as it stands in a cgroup, or nil. Static
// pods are found by the hash of their file, too.
func (x *Index) PodByUID(uid string) *corev1.Pod {
	if uid == "" {
		return nil
	}
	return x.podsByUID[plainUID(uid)]
}

// Node returns a node by name, or nil.
func (x *Index) Node(name string) *corev1.Node { return x.nodes[key{"", name}] }

// Claim returns a claim by name, or nil.
func (x *Index) Claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return x.claims[key{namespace, name}]
}

// PV returns a persistent volume by name, or nil.
func (x *Index) PV(name string) *corev1.PersistentVolume { return x.pvs[key{"", name}] }

// Class returns a storage class by name, or nil.
func (x *Index) Class(name string) *storagev1.StorageClass { return x.classes[key{"", name}] }

// AttributesClass finds a VolumeAttributesClass.
func (x *Index) AttributesClass(name string) *storagev1.VolumeAttributesClass {
	return x.attributes[key{"", name}]
}

// CSIDriver returns a CSIDriver object by name, or nil.
func (x *Index) CSIDriver(name string) *storagev1.CSIDriver { return x.drivers[key{"", name}] }

// CSINode returns the CSINode of a node, or nil.
func (x *Index) CSINode(name string) *storagev1.CSINode { return x.csiNodes[key{"", name}] }

// Attachment returns a VolumeAttachment by name, or nil.
func (x *Index) Attachment(name string) *storagev1.VolumeAttachment {
	return x.attachments[key{"", name}]
}

// PodsOn returns the pods bound to a node.
func (x *Index) PodsOn(node string) []*corev1.Pod { return x.podsByNode[node] }

// PVsFor returns the volumes that name a claim, and those of a class that are free.
func (x *Index) PVsFor(namespace, claim, class string) (naming, free []*corev1.PersistentVolume) {
	return x.pvsFor[key{namespace, claim}], x.pvsFree[class]
}

// PodsIn returns the pods of a namespace.
func (x *Index) PodsIn(namespace string) []*corev1.Pod { return x.podsIn[namespace] }

// PodsOfClaim returns the pods that name a claim.
func (x *Index) PodsOfClaim(namespace, claim string) []*corev1.Pod {
	return x.podsByClaim[key{namespace, claim}]
}

// AttachmentsTo returns the attachments of all volumes to a node.
func (x *Index) AttachmentsTo(node string) []*storagev1.VolumeAttachment {
	return x.attachmentsTo[node]
}

// LogsOf returns the log tails of a pod.
func (x *Index) LogsOf(namespace, pod string) []Log {
	var out []Log
	for _, l := range x.Logs {
		if l.Namespace == namespace && l.Pod == pod {
			out = append(out, l)
		}
	}
	return out
}

// HasDriver tells whether a CSI driver is registered on a node; known is false
// when CSINodes were not collected.
func (x *Index) HasDriver(node, driver string) (registered, known bool) {
	n := x.CSINode(node)
	if n == nil {
		return false, x.Collected("storage.k8s.io/csinodes")
	}
	for _, d := range n.Spec.Drivers {
		if d.Name == driver {
			return true, true
		}
	}
	return false, true
}
