package claim_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// twins are two volumes with one handle, the second one newer; a pod on node full waits
// for the first, another one runs there with the second.
func twins() *snapshot.Snapshot {
	s := scene()
	s.Cluster.PVs[0].Spec.CSI.VolumeHandle = "h"
	s.Cluster.PVs[0].CreationTimestamp = metav1.NewTime(now.Add(-2 * time.Hour))
	second := s.Cluster.PVs[0].DeepCopy()
	second.Name, second.Spec.ClaimRef.Name, second.Spec.ClaimRef.UID = "pv-x", "x", "x"
	second.CreationTimestamp = metav1.NewTime(now.Add(-time.Hour))
	s.Cluster.PVs = append(s.Cluster.PVs, second)
	other := s.Cluster.Claims[0].DeepCopy()
	other.Name, other.UID, other.Spec.VolumeName = "x", "x", "pv-x"
	s.Cluster.Claims = append(s.Cluster.Claims, other)
	w := s.Cluster.Pods[0]
	w.Spec.NodeName = "full"
	w.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}}
	x := w.DeepCopy()
	x.Name, x.UID, x.Status = "x", "x", corev1.PodStatus{Phase: corev1.PodRunning}
	x.Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "x"
	s.Cluster.Pods = append(s.Cluster.Pods, x)
	s.Cluster.Attachments = []*storagev1.VolumeAttachment{attachment("pv-w", true)}
	return s
}

// twice is a pod with one claim in two of its volumes.
func twice() *snapshot.Snapshot {
	s := twins()
	s.Cluster.PVs, s.Cluster.Claims, s.Cluster.Pods = s.Cluster.PVs[:1], s.Cluster.Claims[:1], s.Cluster.Pods[:1]
	again := s.Cluster.Pods[0].Spec.Volumes[0]
	again.Name = "e"
	s.Cluster.Pods[0].Spec.Volumes = append(s.Cluster.Pods[0].Spec.Volumes, again)
	return s
}

func summary(text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.Events = append(s.Cluster.Events, &snapshot.Event{Kind: "Pod", ObjNamespace: "a", ObjName: "w", Reason: "FailedMount", Component: "kubelet", Host: "full",
			First: now.Add(-time.Minute), Last: now.Add(-time.Minute), Message: text})
	}
}

func TestVolumehandleDuplicate(t *testing.T) {
	t.Parallel()
	const newer, certain = "certain PersistentVolume/pv-x", "certain PersistentVolume/pv-w"
	failed := summary(`MountVolume.MountDevice failed for volume "pv-w" : rpc error: code = Internal desc = no such share`)
	both := func(s *snapshot.Snapshot) {
		x := s.Cluster.Pods[1].Spec.Volumes[0]
		x.Name = "x"
		s.Cluster.Pods[0].Spec.Volumes = append(s.Cluster.Pods[0].Spec.Volumes, x)
	}
	try(t, claim.VolumehandleDuplicate, twins, map[string]variant{
		"both used by one pod":                           {both, newer},
		"both used on one node, whose mounts nobody saw": {unchanged, "likely PersistentVolume/pv-x"},
		"a step fails, too":                              {failed, "likely PersistentVolume/pv-x"},
		"used on different nodes":                        {func(s *snapshot.Snapshot) { s.Cluster.Pods[1].Spec.NodeName = "else" }, ""},
		"attached where the other's pod lives": {func(s *snapshot.Snapshot) {
			s.Cluster.Pods[1].Spec.NodeName = "else"
			for _, pv := range s.Cluster.PVs {
				pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			}
			va := attachment("pv-x", true)
			va.Spec.NodeName = "else"
			s.Cluster.Attachments = []*storagev1.VolumeAttachment{va}
		}, "likely PersistentVolume/pv-x"},
		"attributes in the handle": {func(s *snapshot.Snapshot) { s.Cluster.PVs[1].Spec.CSI.VolumeHandle = "h##x" }, ""},
		"handles of two drivers":   {func(s *snapshot.Snapshot) { s.Cluster.PVs[1].Spec.CSI.Driver = "other.example.com" }, ""},
		"nobody waits":             {func(s *snapshot.Snapshot) { s.Cluster.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning} }, ""},
		"the pod was made just now": {func(s *snapshot.Snapshot) {
			s.Cluster.Pods[0].CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
		}, ""},
		"the other pod has succeeded": {func(s *snapshot.Snapshot) { s.Cluster.Pods[1].Status.Phase = corev1.PodSucceeded }, ""},
	})
	try(t, claim.VolumehandleDuplicate, twice, map[string]variant{
		"one claim twice, no word":           {unchanged, "likely PersistentVolume/pv-w"},
		"one claim twice, one name waits":    {summary("Unable to attach or mount volumes: unmounted volumes=[e], unattached volumes=[]: timed out waiting for the condition"), certain},
		"one claim twice, both names wait":   {summary("Unable to attach or mount volumes: unmounted volumes=[d e], unattached volumes=[]: timed out waiting for the condition"), "likely PersistentVolume/pv-w"},
		"one claim twice, a step fails":      {failed, ""},
		"one claim twice, not attached yet":  {func(s *snapshot.Snapshot) { s.Cluster.Attachments[0].Status.Attached = false }, ""},
		"one claim twice, and the pod works": {func(s *snapshot.Snapshot) { s.Cluster.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning} }, ""},
	})
}
