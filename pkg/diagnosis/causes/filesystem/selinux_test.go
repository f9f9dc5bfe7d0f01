package filesystem_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestSELinuxLabelsOfProcesses compares two running pods of a shared volume.
func TestSELinuxLabelsOfProcesses(t *testing.T) {
	t.Parallel()
	const label = "system_u:system_r:container_t:s0:"
	pair := func(first, second, enforce string, words ...string) *host {
		h := newHost(corev1.PodRunning).mounts("ext4", "rw")
		h.pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
		other := pod(corev1.PodRunning)
		other.Name, other.UID = "late", "uid-late"
		h.s.Cluster.Pods = append(h.s.Cluster.Pods, other)
		h.f.Processes = append(h.f.Processes,
			probes.Process{PID: 50, PodUID: "uid-db", MntNS: 5, Label: label + first, Started: now.Add(-50 * time.Minute)},
			probes.Process{PID: 60, PodUID: "uid-late", MntNS: 6, Label: label + second, Started: now.Add(-20 * time.Minute)})
		h.f.Files = map[string]probes.File{"sys/fs/selinux/enforce": {Kind: "file", Content: enforce}}
		h.s.Logs = append(h.s.Logs, snapshot.Log{Namespace: "shop", Pod: "db", Container: "app", Lines: words})
		return h
	}
	const denied = "2026-03-02T02:59:00Z open /data/x: permission denied"
	check(t, []branch{
		{"two levels, and the first is refused", pair("c1,c2", "c3,c4", "1", denied), []string{"selinux-label-conflict certain Pod shop/db"}},
		{"whether it is enforced was not read", pair("c1,c2", "c3,c4", "1", denied).change(func(h *host) { h.f.Files = nil }), []string{"selinux-label-conflict likely Pod shop/db"}},
		{"a mount table was not read", pair("c1,c2", "c3,c4", "1", denied).lacks(probes.Mounts), []string{"selinux-label-conflict likely Pod shop/db"}},
		{"the first to start is not the one that is refused", pair("c1,c2", "c3,c4", "1", denied).change(func(h *host) {
			h.f.Processes[len(h.f.Processes)-1].Started = now.Add(-55 * time.Minute)
			h.s.Cluster.Pods[1].Status.StartTime = nil
		}), []string{}},
		{"nobody is refused", pair("c1,c2", "c3,c4", "1"), []string{}},
		{"one level", pair("c1,c2", "c1,c2", "1", denied), []string{}},
		{"not enforcing", pair("c1,c2", "c3,c4", "0", denied), []string{}},
	})
}
