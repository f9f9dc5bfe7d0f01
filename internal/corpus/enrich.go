package corpus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Enriched is a snapshot with a volume more: of another driver, in another namespace,
// attached and used by a pod that runs. It contradicts nothing.
func Enriched(s *snapshot.Snapshot) *snapshot.Snapshot {
	l := copied(s)
	c := &l.Cluster
	if len(c.Nodes) == 0 {
		return l
	}
	const driver, space, volume = "more.example.com", "elsewhere", "pv-more-00000001"
	node := c.Nodes[0].Name
	made := metav1.NewTime(s.TakenAt.AddDate(0, 0, -3))
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "99999999-9999-4999-8999-999999999999", CreationTimestamp: made}
	}
	pv := &corev1.PersistentVolume{ObjectMeta: meta("", volume)}
	pv.Spec.Capacity, pv.Spec.AccessModes = size, modes
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "more-1"}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: space, Name: "more"}
	pv.Status.Phase = corev1.VolumeBound
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta(space, "more")}
	claim.Spec.AccessModes, claim.Spec.VolumeName, claim.Spec.Resources.Requests = modes, volume, size
	claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, size
	pod := &corev1.Pod{ObjectMeta: meta(space, "more-0")}
	pod.Spec.NodeName = node
	pod.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "more"}}}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "d", MountPath: "/d"}}}}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: made}}}}
	name := volume
	va := &storagev1.VolumeAttachment{ObjectMeta: meta("", "csi-more")}
	va.Spec = storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}
	va.Status.Attached = true
	c.PVs, c.Claims = append(slices.Clone(c.PVs), pv), append(slices.Clone(c.Claims), claim)
	c.Pods, c.Attachments = append(slices.Clone(c.Pods), pod), append(slices.Clone(c.Attachments), va)
	c.Sort()
	return l
}
