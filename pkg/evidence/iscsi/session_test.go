package iscsi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const target = "iqn.2001-05.com.array:a"

// TestFree wants every disk of the target free, whichever volume it is, and no pod that
// wants one of them.
func TestFree(t *testing.T) {
	t.Parallel()
	sdb, sdc := probes.Dev{Major: 8, Minor: 16}, probes.Dev{Major: 8, Minor: 32}
	for name, tt := range map[string]struct {
		change func(*snapshot.Snapshot, *probes.Facts)
		want   string
	}{
		"all free": {func(*snapshot.Snapshot, *probes.Facts) {}, "yes"},
		"the other disk is mounted": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Namespaces[0].Mounts = []probes.Mount{{Dev: sdc, Point: "/x", Raw: "line"}}
		}, "no"},
		"the other disk is open": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Processes[0].Open = []probes.Descriptor{{Path: "proc/1/fd/3", Dev: sdc, Device: true}}
		}, "no"},
		"a pool or a target has the other disk": {func(_ *snapshot.Snapshot, f *probes.Facts) { f.Claims[sdc] = "EBUSY" }, "no"},
		"no exclusive open was tried":           {func(_ *snapshot.Snapshot, f *probes.Facts) { delete(f.Claims, sdc) }, "unseen"},
		"a map lies on one": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Block = append(f.Block, probes.BlockDevice{Name: "dm-1", Dev: probes.Dev{Major: 253, Minor: 1}, Slaves: []string{"sdb"}})
		}, "no"},
		"a second session has a mounted disk": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.ISCSI.Sessions = append(f.ISCSI.Sessions, probes.ISCSISession{Name: "session2", Target: target, Disks: []string{"sdd"}})
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdd", Dev: probes.Dev{Major: 8, Minor: 48}})
			f.Namespaces[0].Mounts = []probes.Mount{{Dev: probes.Dev{Major: 8, Minor: 48}, Point: "/x", Raw: "line"}}
		}, "no"},
		"a pod on the node wants a disk": {func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
				ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "c"},
				PersistentVolumeSource: corev1.PersistentVolumeSource{ISCSI: &corev1.ISCSIPersistentVolumeSource{IQN: target, Lun: 2, TargetPortal: "10.0.0.1:3260"}},
			}}}
			s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", UID: "c"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}}}
			s.Cluster.Pods = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "u"}, Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{
				{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			}}, Status: corev1.PodStatus{Phase: corev1.PodPending}}}
		}, "no"},
		"the pods were not read": {func(s *snapshot.Snapshot, _ *probes.Facts) {
			s.Gaps = []snapshot.Gap{{Need: "api//pods", Reason: "Forbidden"}}
		}, "unseen"},
		"a disk of the session was not read": {func(_ *snapshot.Snapshot, f *probes.Facts) { f.Block = f.Block[:1] }, "unseen"},
		"the sessions were not read": {func(_ *snapshot.Snapshot, f *probes.Facts) {
			f.Problems = []probes.Problem{{Table: probes.Sessions, Text: "EACCES"}}
		}, "unseen"},
		"no session":      {func(_ *snapshot.Snapshot, f *probes.Facts) { f.ISCSI.Sessions = nil }, "unseen"},
		"node not probed": {func(s *snapshot.Snapshot, _ *probes.Facts) { s.Nodes = nil }, "unseen"},
	} {
		f := &probes.Facts{
			Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}}, Processes: []probes.Process{{PID: 1, MntNS: 1}},
			Block:  []probes.BlockDevice{{Name: "sdb", Dev: sdb, HCTL: "2:0:0:1"}, {Name: "sdc", Dev: sdc, HCTL: "2:0:0:2"}},
			Claims: map[probes.Dev]string{sdb: "free", sdc: "free"},
			ISCSI:  probes.ISCSI{Sessions: []probes.ISCSISession{{Name: "session1", Target: target, State: "LOGGED_IN", Disks: []string{"sdb", "sdc"}, HCTLs: []string{"2:0:0:1", "2:0:0:2"}}}},
		}
		s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: f}}}
		tt.change(s, f)
		a, got := Free(snapshot.NewIndex(s), "n", target), "unseen"
		if a.Yes() {
			got = "yes"
		} else if a.No() {
			got = "no"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
