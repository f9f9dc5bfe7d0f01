// Package synthetic makes large clusters for benchmarks: as many objects as asked for,
// all alike, none of them a fixture of a rule.
package synthetic

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// driver is the CSI driver of every volume.
const driver = "ebs.csi.aws.com"

// Cluster is a cluster of this many nodes with the driver's plugin, ten claims and twenty
// events on each.
func Cluster(nodes int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{TakenAt: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), Server: "v1.31.2", Nodes: map[string]*snapshot.NodeRecord{}}
	c := &s.Cluster
	plugin := corev1.PodSpec{Containers: []corev1.Container{{Name: "node-driver-registrar", Args: []string{"--kubelet-registration-path=/var/lib/kubelet/plugins/" + driver + "/csi.sock"}}}}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ebs-csi-node", UID: "set"}, Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: plugin}}}
	c.DaemonSets = append(c.DaemonSets, set)
	c.CSIDrivers = append(c.CSIDrivers, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}})
	for n := range nodes {
		node := fmt.Sprintf("node-%d", n)
		c.Nodes = append(c.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}, Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}},
		}})
		c.CSINodes = append(c.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: "i-" + node}}}})
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "ebs-csi-node-" + node, UID: types.UID("plugin-" + node),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}}, Spec: plugin, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		pod.Spec.NodeName = node
		c.Pods = append(c.Pods, pod)
		for v := range 10 {
			addVolume(c, node, fmt.Sprintf("pvc-%d-%d", n, v))
		}
		for e := range 20 {
			c.Events = append(c.Events, &snapshot.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("%s.%d", node, e)},
				Kind:       "Pod", ObjNamespace: "shop", ObjName: fmt.Sprintf("pod-pvc-%d-%d", n, e/2),
				Reason: "FailedMount", Type: "Warning", Component: "kubelet", Host: node, Count: e,
				Message: `MountVolume.MountDevice failed for volume "pvc" : rpc error: code = Internal desc = already mounted or mount point busy`,
				First:   s.TakenAt.Add(-time.Hour), Last: s.TakenAt.Add(-time.Minute),
			})
		}
	}
	return s
}

// addVolume adds a claim with its PV, attachment and pod.
func addVolume(c *snapshot.Cluster, node, name string) {
	mode := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	c.Claims = append(c.Claims, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: mode, VolumeName: name, Resources: corev1.VolumeResourceRequirements{Requests: size}},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	})
	c.PVs = append(c.PVs, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{AccessModes: mode, Capacity: size, PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-" + name, FSType: "ext4"},
		}},
	})
	c.Attachments = append(c.Attachments, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-" + name},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	})
	c.Pods = append(c.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod-" + name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1"}}, Volumes: []corev1.Volume{{
			Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}},
		}}},
	})
}
