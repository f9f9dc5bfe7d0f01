package filesystem_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

const wrongType = "MountVolume.MountDevice failed for volume \"pv-data\" : mount failed: exit status 32\nOutput: mount: wrong fs type, bad option, bad superblock on /dev/sdb"

// lacks says that a part of a table of the node was not read.
func (h *host) lacks(table probes.Table) *host {
	h.f.Problems = append(h.f.Problems, probes.Problem{Probe: "test", Table: table, Text: "EACCES"})
	return h
}

// reads says what a read of the disk shows.
func (h *host) reads(c probes.Content) *host { h.f.Contents[sdb] = c; return h }

func TestFeatureUnsupported(t *testing.T) {
	t.Parallel()
	const line = "XFS (sdb): Superblock has unknown incompatible features (0x20) enabled."
	xfs := func(kernel, features string) *host {
		h := newHost(corev1.PodPending).says(wrongType).reads(probes.Content{Type: "xfs", Extra: map[string]string{"FEATURES": features}})
		h.f.Identity.Kernel = kernel
		return h
	}
	attached := "sd 3:0:0:0: [sdb] Attached SCSI disk"
	check(t, []branch{
		{"the kernel's line", xfs("5.4.0", "ftype").log(3, kmsg.UnsupportedFeature, line), []string{"filesystem-feature-unsupported certain Device n1/8:16"}},
		{"the kernel's line, and a mount table that was not read", xfs("5.4.0", "ftype").log(3, kmsg.UnsupportedFeature, line).lacks(probes.Mounts), []string{"filesystem-feature-unsupported likely Device n1/8:16"}},
		{"the kernel's line, and it is mounted since", xfs("5.4.0", "ftype").log(3, kmsg.UnsupportedFeature, line).mounts("xfs", "rw"), []string{}},
		{"an old refusal of the tool, the node not seen", newHost(corev1.PodPending).says("e2fsck: Get a newer version of e2fsck!").change(func(h *host) { h.s.Cluster.Events[0].Last = now.Add(-time.Hour) }).unprobed(), []string{"filesystem-feature-unsupported likely PersistentVolume pv-data"}},
		{"a line of an earlier disk of this name", xfs("5.4.0", "ftype").log(30, kmsg.UnsupportedFeature, line).log(3, kmsg.SCSIAttached, attached), []string{}},
		{"no line, and a feature that is newer than the kernel", xfs("5.4.0-150", "ftype sparse nrext64"), []string{"filesystem-feature-unsupported likely Device n1/8:16"}},
		{"no line, and a kernel that is new enough", xfs("6.1.0", "ftype sparse nrext64"), []string{}},
		{"words of an hour ago, and it is mounted now", newHost(corev1.PodRunning).mounts("ext4", "rw").counts(0).says("e2fsck: Get a newer version of e2fsck!").change(func(h *host) { h.s.Cluster.Events[0].Last = now.Add(-time.Hour) }), []string{}},
		{"words of the tool", newHost(corev1.PodPending).reads(probes.Content{Type: "ext4", State: "clean"}).says("fsck: /dev/sdb has unsupported feature(s): orphan_file\ne2fsck: Get a newer version of e2fsck!"), []string{"filesystem-feature-unsupported certain Device n1/8:16"}},
	})
}

func TestMkfsRisk(t *testing.T) {
	t.Parallel()
	const failed = "MountVolume.MountDevice failed for volume \"pv-data\" : format of disk \"/dev/sdb\" failed: type:(\"ext4\") target:(\"/x\") output:(mke2fs: Input/output error while writing"
	const busy = "MountVolume.MountDevice failed for volume \"pv-data\" : format of disk \"/dev/sdb\" failed: output:(/dev/sdb is apparently in use by the system; will not make a filesystem here!"
	aged := func(h *host) *host {
		h.pv.CreationTimestamp = metav1.NewTime(now.Add(-90 * 24 * time.Hour))
		return h
	}
	unread := func(h *host) { h.f.Contents = nil }
	const again = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = error encrypting/opening volume with ID v: error re-formatting device /dev/sdb after luksOpen failure: luksFormat failed: exit status 4, stderr: "
	luks := probes.Content{Type: "crypto_LUKS"}
	unseen := func(h *host) { delete(h.s.Nodes, "n1") }
	check(t, []branch{
		{"an old volume that cannot be read, and mkfs", aged(newHost(corev1.PodPending)).reads(probes.Content{Err: "EIO"}).says(failed), []string{"filesystem-mkfs-risk likely Device n1/8:16"}},
		{"a new volume", newHost(corev1.PodPending).reads(probes.Content{Type: "none"}).says(failed), []string{}},
		{"an old volume that was perhaps never formatted", aged(newHost(corev1.PodPending)).reads(probes.Content{Type: "none"}).says(failed), []string{"filesystem-mkfs-risk possible Device n1/8:16"}},
		{"mkfs was kept off by a holder", aged(newHost(corev1.PodPending)).reads(probes.Content{Err: "EIO"}).says(busy), []string{}},
		{"the disk was not read", aged(newHost(corev1.PodPending)).says(failed).change(unread), []string{"filesystem-mkfs-risk possible Device n1/8:16"}},
		{"the node was not seen", aged(newHost(corev1.PodPending)).says(failed).change(unseen), []string{"filesystem-mkfs-risk possible PersistentVolume pv-data"}},
		{"a filesystem is there", aged(newHost(corev1.PodPending)).reads(probes.Content{Type: "ext4"}).says(failed), []string{}},
		{"a driver writes a new LUKS header over the old one", aged(newHost(corev1.PodPending)).reads(luks).says(again), []string{"filesystem-mkfs-risk likely Device n1/8:16"}},
		{"the same, the node not seen", aged(newHost(corev1.PodPending)).says(again).change(unseen), []string{"filesystem-mkfs-risk likely PersistentVolume pv-data"}},
		{"the same, of a new volume", newHost(corev1.PodPending).reads(luks).says(again), []string{}},
		{"a new header, and the old one cannot be read", aged(newHost(corev1.PodPending)).reads(probes.Content{Err: "EIO"}).says("error formating device /dev/sdb: luksFormat failed: exit status 1"), []string{"filesystem-mkfs-risk likely Device n1/8:16"}},
	})
}

func TestXFSUUIDDuplicate(t *testing.T) {
	t.Parallel()
	const id, line = "11111111-2222-3333-4444-555555555555", "XFS (sdb): Filesystem has duplicate UUID 11111111-2222-3333-4444-555555555555 - can't mount"
	sdc := probes.Dev{Major: 8, Minor: 32}
	copied := func(mounted bool) *host {
		h := newHost(corev1.PodPending).says(wrongType).reads(probes.Content{Type: "xfs", UUID: id})
		h.f.Contents[sdc] = probes.Content{Type: "xfs", UUID: id}
		h.f.Block = append(h.f.Block, probes.BlockDevice{Name: "sdc", Dev: sdc, Sectors: 1 << 21, State: "running"})
		if mounted {
			ns := &h.f.Namespaces[0]
			ns.Mounts = append(ns.Mounts, probes.Mount{ID: 9, Parent: 1, Dev: sdc, Root: "/", Point: "/srv/original", FSType: "xfs", Source: "/dev/sdc", Options: []string{"rw"}, Line: 3, Raw: "9 1 8:32 / …"})
		}
		return h
	}
	certain := []string{"xfs-uuid-duplicate certain Device n1/8:16"}
	check(t, []branch{
		{"both were read and one is mounted", copied(true), certain},
		{"the other is not mounted", copied(false), []string{}},
		{"the kernel's line, and the original in sight", copied(true).log(2, kmsg.XFSDuplicateUUID, line), certain},
		{"both were read, and a mount table was not", copied(true).lacks(probes.Mounts), []string{"xfs-uuid-duplicate likely Device n1/8:16"}},
		{"the other is not seen mounted, and a mount table was not read", copied(false).lacks(probes.Mounts), []string{}},
		{"the mounted one is the volume itself under an old number", copied(false).mounts("xfs", "rw").change(func(h *host) { h.f.Namespaces[0].Mounts[1].Dev = sdc }), []string{}},
		{"the kernel's line alone", newHost(corev1.PodPending).says(wrongType).reads(probes.Content{Type: "xfs"}).log(2, kmsg.XFSDuplicateUUID, line), []string{"xfs-uuid-duplicate likely Device n1/8:16"}},
	})
}
