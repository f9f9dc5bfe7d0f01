package filesystem_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	now = time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)
	sdb = probes.Dev{Major: 8, Minor: 16}
)

const iqn = "iqn.2020-01.org.example:disk7"

// host is a node with the volume's disk sdb behind an iSCSI session.
type host struct {
	s  *snapshot.Snapshot
	f  *probes.Facts
	pv *corev1.PersistentVolume
}

func newHost(phase corev1.PodPhase) *host {
	h := &host{s: &snapshot.Snapshot{TakenAt: now, Nodes: map[string]*snapshot.NodeRecord{}}}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	h.pv = &corev1.PersistentVolume{ObjectMeta: meta("", "pv-data"), Spec: corev1.PersistentVolumeSpec{AccessModes: modes,
		ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "uid-data"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{ISCSI: &corev1.ISCSIPersistentVolumeSource{TargetPortal: "10.1.1.8:3260", IQN: iqn, FSType: "ext4"}}}}
	c := &h.s.Cluster
	c.PVs = []*corev1.PersistentVolume{h.pv}
	c.Nodes = []*corev1.Node{{ObjectMeta: meta("", "n1")}}
	c.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: meta("shop", "data"), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-data", AccessModes: modes},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	if phase != "" {
		c.Pods = []*corev1.Pod{pod(phase)}
	}
	h.f = &probes.Facts{
		Identity:   probes.Identity{Hostname: "n1", Clock: now, Uptime: 10 * time.Hour, InitMntNS: 1},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{ID: 1, Dev: probes.Dev{Major: 8}, Root: "/", Point: "/", FSType: "ext4"}}}},
		Processes:  []probes.Process{{PID: 1, Comm: "systemd", MntNS: 1}},
		Block:      []probes.BlockDevice{{Name: "sda", Dev: probes.Dev{Major: 8}, Sectors: 1 << 21}, {Name: "sdb", Dev: sdb, Sectors: 1 << 21, State: "running", HCTL: "3:0:0:0"}},
		Kubelet:    probes.Kubelet{Root: "/var/lib/kubelet"},
		ISCSI: probes.ISCSI{Sessions: []probes.ISCSISession{{Name: "session3", Target: iqn, State: "LOGGED_IN", Disks: []string{"sdb"}, HCTLs: []string{"3:0:0:0"},
			Connections: []probes.ISCSIConnection{{Name: "connection3:0"}}}}},
		Contents: map[probes.Dev]probes.Content{sdb: {Type: "ext4", State: "errors"}},
		Claims:   map[probes.Dev]string{sdb: "free"},
	}
	h.log(599, "", "Linux version 6.8.0")
	h.s.Nodes["n1"] = &snapshot.NodeRecord{Name: "n1", Facts: h.f}
	return h
}

func meta(ns, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}
}

func pod(phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta("shop", "db"), Status: corev1.PodStatus{Phase: phase}}
	started := metav1.NewTime(now.Add(-50 * time.Minute))
	p.Status.StartTime = &started
	p.Spec.NodeName = "n1"
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	st := corev1.ContainerStatus{Name: "app"}
	if phase == corev1.PodRunning {
		st.State.Running = &corev1.ContainerStateRunning{StartedAt: started}
	} else {
		st.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{st}
	return p
}

// mounts adds the pod's mount of the disk with superblock options.
func (h *host) mounts(fstype string, super ...string) *host {
	ns := &h.f.Namespaces[0]
	ns.Mounts = append(ns.Mounts, probes.Mount{ID: 7, Parent: 1, Dev: sdb, Root: "/", Point: "/var/lib/kubelet/pods/uid-db/volumes/kubernetes.io~iscsi/pv-data",
		FSType: fstype, Source: "/dev/sdb", Options: []string{"rw"}, Super: super, Line: 2, Raw: "7 1 8:16 / …"})
	h.f.Claims[sdb] = "EBUSY"
	return h
}

// counts adds ext4's own counters.
func (h *host) counts(errors int64, attrs ...probes.Attr) *host {
	h.f.Superblocks = []probes.Superblock{{KName: "sdb", FSType: "ext4", Sysfs: true, ErrorsCount: errors, Attrs: attrs, Locator: "sys/fs/ext4/sdb"}}
	return h
}

// log adds a kernel line about sdb that is so many minutes old.
func (h *host) log(minutes int64, kind, text string) *host {
	n := uint64(len(h.f.Kernel) + 1)
	h.f.Kernel = append(h.f.Kernel, probes.KernelLine{Sequence: n, Micros: (600 - minutes) * 60_000_000, At: now.Add(-time.Duration(minutes) * time.Minute), Kind: kind, Text: text, Names: []string{"sdb"}})
	return h
}

func (h *host) says(text string) *host {
	h.s.Cluster.Events = append(h.s.Cluster.Events, &snapshot.Event{ObjectMeta: meta("shop", "db.1"), Kind: "Pod", ObjNamespace: "shop", ObjName: "db", ObjUID: "uid-db",
		Reason: "FailedMount", Message: text, Type: "Warning", Component: "kubelet", Host: "n1", Count: 3, First: now.Add(-20 * time.Minute), Last: now.Add(-time.Minute)})
	return h
}

func (h *host) change(f func(*host)) *host { f(h); return h }

func (h *host) report(t *testing.T) *report.Report {
	t.Helper()
	catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{
		filesystem.NeedsFsck, filesystem.ReadonlyAfterError, filesystem.FeatureUnsupported, filesystem.MkfsRisk, filesystem.XFSUUIDDuplicate,
		filesystem.EncryptionToolsMissing, filesystem.FSGroupChownSlow, filesystem.SELinuxLabelConflict, filesystem.NodeWatchLimitReached,
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Evaluate(snapshot.NewIndex(h.s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"})
}

type branch struct {
	name string
	h    *host
	want []string
}

func check(t *testing.T, list []branch) {
	t.Helper()
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, c := range b.h.report(t).RootCauses {
				got = append(got, fmt.Sprintf("%s %s %s", c.Name, c.Certainty, c.Subject))
			}
			if diff := cmp.Diff(b.want, got); diff != "" {
				t.Errorf("root causes (-want +got):\n%s", diff)
			}
		})
	}
}

const (
	abort   = "EXT4-fs error (device sdb): ext4_journal_check_start:84: comm postgres: Detected aborted journal"
	remount = "EXT4-fs (sdb): Remounting filesystem read-only"
	closed  = "filesystem-readonly-after-error certain Device n1/8:16"
	refused = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = 'fsck' found errors on device /dev/sdb but could not correct them: fsck from util-linux 2.34\n/dev/sdb: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY."
)

var clean = []string{}

func TestReadonlyAfterError(t *testing.T) {
	t.Parallel()
	check(t, []branch{
		{"superblock says ro and errors are counted", newHost(corev1.PodRunning).mounts("ext4", "ro").counts(2), []string{closed}},
		{"an image, which nobody can write", newHost(corev1.PodRunning).mounts("iso9660", "ro"), clean},
		{"newer kernel says rw, the log tells", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(2).log(20, kmsg.Ext4Aborted, abort).log(20, kmsg.RemountedReadOnly, remount), []string{closed}},
		{"newest kernel says emergency_ro", newHost(corev1.PodRunning).mounts("ext4", "rw", "emergency_ro").counts(2), []string{closed}},
		{"XFS shut down after an I/O error", newHost(corev1.PodRunning).mounts("xfs", "rw").log(21, kmsg.IOError, "XFS (sdb): log I/O error -5").log(20, kmsg.XFSShutdown, "XFS (sdb): Filesystem has been shut down due to log error (0x2)."), []string{closed}},
		{"XFS could not write its log", newHost(corev1.PodRunning).mounts("xfs", "rw").log(20, kmsg.IOError, "XFS (sdb): log I/O error -5"), []string{closed}},
		{"counter of an earlier life", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(3), clean},
		{"lines are older than the mount", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(0).log(40, kmsg.RemountedReadOnly, remount).log(30, kmsg.Mounted, "EXT4-fs (sdb): mounted filesystem r/w"), clean},
		{"administrator's remount", newHost(corev1.PodRunning).mounts("ext4", "ro").counts(0).log(20, kmsg.Remounted, "EXT4-fs (sdb): re-mounted ro"), clean},
		{"ro, and the counters were not read", newHost(corev1.PodRunning).mounts("ext4", "ro"), []string{"filesystem-readonly-after-error likely Device n1/8:16"}},
		{"XFS, and the kernel's log was not read", newHost(corev1.PodRunning).mounts("xfs", "rw").lacks(probes.KernelLog), clean},
		{"closed, and whose pods use it was not read", newHost("").mounts("ext4", "ro").counts(2).change(func(h *host) {
			h.s.Gaps = append(h.s.Gaps, snapshot.Gap{Need: "api//pods", Reason: "Forbidden"})
			h.s.Cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: meta("", "csi-1"), Status: storagev1.VolumeAttachmentStatus{Attached: true},
				Spec: storagev1.VolumeAttachmentSpec{NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &h.pv.Name}}}}
		}), []string{"filesystem-readonly-after-error likely Device n1/8:16"}},
		{"PV wants ro", newHost(corev1.PodRunning).mounts("ext4", "ro").counts(2).change(func(h *host) { h.pv.Spec.ISCSI.ReadOnly = true }), clean},
		{"pod wants ro", newHost(corev1.PodRunning).mounts("ext4", "ro").counts(2).change(func(h *host) {
			h.s.Cluster.Pods[0].Spec.Volumes[0].PersistentVolumeClaim.ReadOnly = true
		}), clean},
		{"write-protected device", newHost(corev1.PodRunning).mounts("ext4", "ro").counts(2).change(func(h *host) { h.f.Block[1].ReadOnly = true }), clean},
	})
}

// TestReadonlyOnShrunkDevice: what is unmounted from a device that became smaller cannot be mounted
// again, and a check cuts off what lies beyond its end.
func TestReadonlyOnShrunkDevice(t *testing.T) {
	t.Parallel()
	advised := func(sectors int64) string {
		h := newHost(corev1.PodRunning).mounts("ext4", "rw", "emergency_ro").counts(2).change(func(h *host) { h.f.Block[1].Sectors = sectors })
		h.statfs(h.f.Namespaces[0].Mounts[1].Point, 16000, 100, 100, 100, 100)
		var out strings.Builder
		for _, r := range h.report(t).RootCauses[0].Remedies {
			out.WriteString(r.Title + "\n")
		}
		return out.String()
	}
	if got := advised(2048); !strings.Contains(got, "smaller than its filesystem") || strings.Contains(got, "pod shop/db") {
		t.Errorf("a device of 1 MiB under a filesystem of 62 MiB: %s", got)
	}
	if got := advised(131072); strings.Contains(got, "smaller than its filesystem") || !strings.Contains(got, "pod shop/db") {
		t.Errorf("a device of 64 MiB under a filesystem of 62 MiB: %s", got)
	}
}

func TestNeedsFsck(t *testing.T) {
	t.Parallel()
	const needs = "filesystem-needs-fsck certain Device n1/8:16"
	const growth = "EXT4-fs warning (device sdb): ext4_resize_begin:72: There are errors in the filesystem, so online resizing is not allowed"
	check(t, []branch{
		{"refused, free and readable", newHost(corev1.PodPending).says(refused), []string{needs}},
		{"refused, and the kernel's log was not read", newHost(corev1.PodPending).says(refused).lacks(probes.KernelLog), []string{"filesystem-needs-fsck likely Device n1/8:16"}},
		{"refused, and a mount table was not read", newHost(corev1.PodPending).says(refused).lacks(probes.Mounts), []string{"filesystem-needs-fsck likely Device n1/8:16"}},
		{"marked, and a mount is refused for rights", newHost(corev1.PodPending).says("open /data/x: permission denied"), clean},
		{"requests of the disk fail", newHost(corev1.PodPending).says(refused).log(2, kmsg.IOError, "I/O error, dev sdb, sector 8"), clean},
		{"unreadable", newHost(corev1.PodPending).says(refused).change(func(h *host) { h.f.Contents[sdb] = probes.Content{Err: "EIO"} }), clean},
		{"node was not probed", newHost(corev1.PodPending).says(refused).change(func(h *host) { delete(h.s.Nodes, "n1") }), []string{"filesystem-needs-fsck likely PersistentVolume pv-data"}},
		{"a marked superblock alone", newHost(corev1.PodPending), clean},
		{"marked, and the kernel found damage before", newHost(corev1.PodPending).log(30, kmsg.Ext4Error, "EXT4-fs error (device sdb): ext4_lookup:1700: inode #12: comm x: deleted inode referenced: 13"),
			[]string{"filesystem-needs-fsck likely Device n1/8:16"}},
		{"XFS finds bad metadata while mounted", newHost(corev1.PodRunning).mounts("xfs", "rw").log(20, kmsg.XFSCorruption, "XFS (sdb): Metadata CRC error detected at xfs_inobt_read_verify+0x79/0xb0").
			log(20, kmsg.IOError, `XFS (sdb): metadata I/O error: block 0x18 ("xfs_trans_read_buf_map") error 74 numblks 8`).
			log(20, kmsg.XFSShutdown, "XFS (sdb): Corruption of in-memory data detected.  Shutting down filesystem"), []string{needs}},
		{"the kernel does not grow it", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(2).log(5, "", growth), []string{needs}},
		{"the kernel does not grow a neighbour", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(0).log(5, "", strings.ReplaceAll(growth, "sdb", "sdc")), clean},
		{"mounted, the refusal is past", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(0).says(refused), clean},
	})
}

// TestRepairIsOfferedOnlyWhenSafe looks for the named remedy, which has commands.
func TestRepairIsOfferedOnlyWhenSafe(t *testing.T) {
	t.Parallel()
	offered := func(h *host) bool {
		for _, c := range h.report(t).RootCauses {
			for _, r := range c.Remedies {
				if r.Name == "fsck" {
					return true
				}
			}
		}
		return false
	}
	damage := "EXT4-fs error (device sdb): ext4_lookup:1700: inode #12: comm x: deleted inode referenced: 13"
	free := func() *host {
		h := newHost("").log(30, kmsg.Ext4Error, damage)
		name := h.pv.Name
		h.s.Cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: meta("", "csi-1"),
			Spec:   storagev1.VolumeAttachmentSpec{NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
			Status: storagev1.VolumeAttachmentStatus{Attached: true}}}
		return h
	}
	for _, c := range []struct {
		name string
		h    *host
		want bool
	}{
		{"free, proven, readable, no pod, and no backup that shows", free(), false},
		{"a pod still wants the volume", newHost(corev1.PodPending).says(refused), false},
		{"held by something", free().change(func(h *host) { h.f.Claims[sdb] = "EBUSY" }), false},
		{"mounted", newHost(corev1.PodRunning).mounts("xfs", "rw").log(20, kmsg.XFSCorruption, "XFS (sdb): Metadata CRC error detected at x"), false},
	} {
		if got := offered(c.h); got != c.want {
			t.Errorf("%s: fsck offered = %v, want %v", c.name, got, c.want)
		}
	}
}
