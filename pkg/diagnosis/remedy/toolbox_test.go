package remedy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestToolbox asks that no tool of a storage system is printed as if it were at hand.
func TestToolbox(t *testing.T) {
	t.Parallel()
	volume := func(driver, cluster string) *snapshot.Volume {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h", VolumeAttributes: map[string]string{"clusterID": cluster}}
		return snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}}}).VolumeOfPV("pv")
	}
	for driver, want := range map[string]string{
		"rook-ceph.rbd.csi.ceph.com/storage": "kubectl -n storage exec deploy/rook-ceph-tools -- ceph osd blocklist ls",
		"rook-ceph.cephfs.csi.ceph.com/":     "kubectl -n rook-ceph exec deploy/rook-ceph-tools -- ceph osd blocklist ls",
		"rbd.csi.ceph.com/0b2c":              "",
		"other.rbd.csi.ceph.com/-A":          "",
	} {
		name, cluster, _ := strings.Cut(driver, "/")
		s := CephLook(volume(name, cluster), "See who is shut out", "ceph", "osd", "blocklist", "ls")
		r, _ := s.Decide(snapshot.NewIndex(&snapshot.Snapshot{}))
		got := strings.Join(r.Commands, "\n")
		if got != want && (want != "" || strings.HasPrefix(got, "ceph")) {
			t.Errorf("%s: %q, want %q", driver, got, want)
		}
		if want == "" && len(r.Commands) == 0 && !strings.Contains(r.Title, "host of Ceph: ceph osd blocklist ls") {
			t.Errorf("%s: %q does not say where", driver, r.Title)
		}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "piraeus", Name: "satellite-x", Labels: map[string]string{"app.kubernetes.io/component": "linstor-satellite"}}, Spec: corev1.PodSpec{NodeName: "n"}}
	x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Pods: []*corev1.Pod{pod}}})
	if got, want := OnSatellite(x, "n", "drbdsetup", "status", "r0", "--verbose"), "kubectl -n piraeus exec satellite-x -- drbdsetup status r0 --verbose"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, _, ok := ofNode(OnSatellite(x, "m", "drbdsetup", "status", "r0")); !ok {
		t.Error("without a satellite the tool is the node's")
	}
}
