package filesystem_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// second adds a pod of the claim that waits on n1.
func second(h *host) {
	p := pod(corev1.PodPending)
	p.Name, p.UID = "db-2", "uid-db-2"
	h.s.Cluster.Pods = append(h.s.Cluster.Pods, p)
}

// alsoOn mounts the disk for a pod on a second node as well.
func alsoOn(node string) func(*host) {
	return func(h *host) {
		p := pod(corev1.PodRunning)
		p.Name, p.UID, p.Spec.NodeName = "db-2", "uid-db-2", node
		h.s.Cluster.Pods = append(h.s.Cluster.Pods, p)
		h.s.Cluster.Nodes = append(h.s.Cluster.Nodes, &corev1.Node{ObjectMeta: meta("", node)})
		f := *h.f
		ns := f.Namespaces[0]
		ns.Mounts = append([]probes.Mount(nil), ns.Mounts...)
		ns.Mounts[len(ns.Mounts)-1].Point = "/var/lib/kubelet/pods/uid-db-2/volumes/kubernetes.io~iscsi/pv-data"
		f.Namespaces, f.Kernel = []probes.MountNamespace{ns}, nil
		h.s.Nodes[node] = &snapshot.NodeRecord{Name: node, Facts: &f}
	}
}

func TestCheckedWhileMounted(t *testing.T) {
	t.Parallel()
	failed := func(out string) string {
		return "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to run fsck on device '/dev/sdb': failed to run fsck: output: \"fsck from util-linux 2.41\n" + out + "\", exit status 8"
	}
	met, busy := failed("/dev/sdb is mounted.\ne2fsck: Cannot continue, aborting."), failed("/dev/sdb is in use.\ne2fsck: Cannot continue, aborting.")
	other := failed("/dev/sda is mounted.\ne2fsck: Cannot continue, aborting.")
	damage := "XFS (sdb): Metadata CRC error detected at xfs_inobt_read_verify+0x79/0xb0"
	const certain, likely = "filesystem-checked-while-mounted certain Device n1/8:16", "filesystem-checked-while-mounted likely Device n1/8:16"
	twoPods := func() *host { return newHost(corev1.PodRunning).change(second) }
	checkRules(t, []*diagnosis.Rule{filesystem.CheckedWhileMounted, filesystem.NeedsFsck}, []branch{
		{"mounted for the first pod", twoPods().mounts("ext4", "rw").says(met), []string{certain}},
		{"mounted no more", twoPods().says(met), []string{likely}},
		{"node was not probed", twoPods().mounts("ext4", "rw").says(met).unprobed(), []string{"filesystem-checked-while-mounted likely PersistentVolume pv-data"}},
		{"an exclusive open failed", twoPods().mounts("ext4", "rw").says(busy), clean},
		{"the check means another device", twoPods().mounts("ext4", "rw").change(func(h *host) {
			h.f.DeviceNodes = []probes.DeviceNode{{Path: "/dev/sda", Dev: probes.Dev{Major: 8}}}
		}).says(other), clean},
		{"damage, not double use", newHost(corev1.PodPending).says(refused), []string{"filesystem-needs-fsck certain Device n1/8:16"}},
		{"a format that was refused", twoPods().mounts("ext4", "rw").says("format of disk \"/dev/sdb\" failed: output:(mke2fs 1.47\n/dev/sdb is mounted; will not make a filesystem here!)"), clean},
		{"an old event", twoPods().mounts("ext4", "rw").says(met).change(func(h *host) {
			for _, e := range h.s.Cluster.Events {
				e.Last = now.Add(-time.Hour)
			}
		}), clean},
		{"only a foreign namespace has it", twoPods().says(met).change(func(h *host) {
			h.f.Namespaces = append(h.f.Namespaces, probes.MountNamespace{ID: 7, PIDs: []int{70}, TablePID: 70, Mounts: []probes.Mount{{ID: 70, Dev: sdb, Root: "/", Point: "/host/x", FSType: "ext4"}}})
		}), clean},
		{"two nodes write, one finds damage", newHost(corev1.PodRunning).mounts("xfs", "rw").change(alsoOn("n2")).log(3, kmsg.XFSCorruption, damage), []string{likely}},
		{"two nodes write, and the API knows of one", newHost(corev1.PodRunning).mounts("xfs", "rw").change(alsoOn("n2")).change(func(h *host) { h.s.Cluster.Pods = h.s.Cluster.Pods[:1] }).log(3, kmsg.XFSCorruption, damage), []string{likely}},
		{"two nodes write, no damage yet", newHost(corev1.PodRunning).mounts("xfs", "rw").change(alsoOn("n2")), clean},
		{"one node finds damage alone", newHost(corev1.PodRunning).mounts("xfs", "rw").log(3, kmsg.XFSCorruption, damage), []string{"filesystem-needs-fsck certain Device n1/8:16"}},
	})
}
