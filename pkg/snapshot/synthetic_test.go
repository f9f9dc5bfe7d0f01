package snapshot

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// synthetic is a cluster of this many nodes with ten claims and twenty events
// on each.
func synthetic(nodes int) *Snapshot {
	s := &Snapshot{TakenAt: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), Server: "v1.31.2", Nodes: map[string]*NodeRecord{}}
	c := &s.Cluster
	for n := range nodes {
		node := fmt.Sprintf("node-%d", n)
		c.Nodes = append(c.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}, Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}},
		}})
		for v := range 10 {
			addVolume(c, node, fmt.Sprintf("pvc-%d-%d", n, v))
		}
		for e := range 20 {
			c.Events = append(c.Events, &Event{
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
func addVolume(c *Cluster, node, name string) {
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
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "driver.longhorn.io", VolumeHandle: name, FSType: "ext4"},
		}},
	})
	c.Attachments = append(c.Attachments, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "csi-" + name},
		Spec:       storagev1.VolumeAttachmentSpec{Attacher: "driver.longhorn.io", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	})
	c.Pods = append(c.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pod-" + name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1"}}, Volumes: []corev1.Volume{{
			Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}},
		}}},
	})
}

// BenchmarkLoad shows how time and memory grow with the cluster; the largest has
// 50,000 claims and 100,000 events.
func BenchmarkLoad(b *testing.B) {
	for _, nodes := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "s.tar.gz")
			if err := Save(path, synthetic(nodes)); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				s, err := Load(path)
				if err != nil {
					b.Fatal(err)
				}
				if len(s.Cluster.Claims) != 10*nodes || len(s.Gaps) != 0 {
					b.Fatalf("%d claims, %d gaps", len(s.Cluster.Claims), len(s.Gaps))
				}
				b.ReportMetric(heldMiB(s), "MiB-held")
			}
		})
	}
}

// heldMiB is the memory in use while a snapshot is kept.
func heldMiB(s *Snapshot) float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(s)
	return float64(m.HeapAlloc) / (1 << 20)
}

// BenchmarkSave writes the same clusters.
func BenchmarkSave(b *testing.B) {
	for _, nodes := range []int{50, 500, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			s, path := synthetic(nodes), filepath.Join(b.TempDir(), "s.tar.gz")
			for b.Loop() {
				if err := Save(path, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
