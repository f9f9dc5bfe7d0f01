package longhorn

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestRecovers: a pod with an NFS mount of a shared volume needs no new one, unless something shows that it fails.
func TestRecovers(t *testing.T) {
	t.Parallel()
	const point = "/var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/pvc-1/mount"
	says := func(pod, raw string) evidence.Text {
		return evidence.Text{Pod: pod, Source: "event", Reason: "FailedMount", Fresh: true, Raw: raw, Failure: message.Parse(raw)}
	}
	for name, c := range map[string]struct {
		mode, statfs string
		said         []evidence.Text
		want         string
	}{
		"shared, and nothing fails":     {"rwx", "", nil, "yes"},
		"a disk of its own":             {"rwo", "", nil, "no"},
		"its files fail":                {"rwx", "", []evidence.Text{says("shop/web", "stat /data: stale NFS file handle")}, "no"},
		"the files of another pod fail": {"rwx", "", []evidence.Text{says("shop/job", "stat /data: stale NFS file handle")}, "yes"},
		"its mount does not answer":     {"rwx", "EIO", nil, "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Statfs: map[string]probes.FSStat{point: {Err: c.statfs}}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1,
				Mounts: []probes.Mount{{Dev: probes.Dev{Minor: 77}, Root: "/", Point: point, FSType: "nfs4", Source: "10.43.0.9:/pvc-1"}}}}}
			s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n1": {Name: "n1", Facts: f}}}
			lh := &snapshot.LHVolume{AccessMode: c.mode}
			lh.Name = "pvc-1"
			s.Cluster.Longhorn.Volumes = []*snapshot.LHVolume{lh}
			s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}, Spec: corev1.PersistentVolumeSpec{
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: snapshot.LonghornDriver, VolumeHandle: "pvc-1"}}}}}
			x := snapshot.NewIndex(s)
			pl := &evidence.Place{X: x, Volume: x.VolumeOfPV("pvc-1"), Node: "n1", View: x.View("n1"), Texts: c.said}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{NodeName: "n1"}}
			a, got := Remount{pl: pl, pod: pod}.Recovers(), "no"
			if a.Yes() {
				got = "yes"
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
