package filesystem_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestTypeMismatch(t *testing.T) {
	t.Parallel()
	said := func(want, holds string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to mount the volume as \"" + want + "\", it already contains " + holds + ". Mount error: mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t " + want + " -o defaults /dev/sdb /x\nOutput: mount: /x: wrong fs type, bad option, bad superblock on /dev/sdb."
	}
	unknown := func(holds string) string {
		return "MountVolume.MountDevice failed for volume \"pv-data\" : mount failed: exit status 32\nOutput: mount: /x: unknown filesystem type '" + holds + "'."
	}
	whole := "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = could not format \"/dev/sdb\" and mount it at \"/x\": mount failed: exit status 32\nOutput: mount: /x: wrong fs type, bad option, bad superblock on /dev/sdb, missing codepage or helper program, or other error."
	divided := func(h *host) { // a snapshot of a disk with a partition table (kubernetes-sigs/aws-ebs-csi-driver#1168)
		h.f.Block = append(h.f.Block, probes.BlockDevice{Name: "sdb1", Dev: probes.Dev{Major: 8, Minor: 17}, Sectors: 8, Partition: 1, Parent: "sdb"})
	}
	byName := func(h *host) { // only the mount path ties a disk to the volume, and it is gone: a link by name stays
		h.f.ISCSI.Sessions = nil
		h.f.DevLinks = []probes.DevLink{{Path: "/dev/disk/by-path/ip-10.1.1.8:3260-iscsi-" + iqn + "-lun-0", Target: "../../sdb", Dev: sdb}}
	}
	unmarked := func(h *host) { delete(h.pv.Spec.CSI.VolumeAttributes, "encrypted") }
	opens := "MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to publish volume: unable to open LUKS device /dev/sdb: device-mapper: reload ioctl on sdb (253:0) failed: Invalid argument"
	certain, likely := []string{"filesystem-type-mismatch certain PersistentVolume pv-data"}, []string{"filesystem-type-mismatch likely PersistentVolume pv-data"}
	waiting := func(holds string) *host { return newHost(corev1.PodPending).typed(holds) }
	luks := func() *host { return encrypted(corev1.PodPending) }
	checkRules(t, []*diagnosis.Rule{filesystem.TypeMismatch}, []branch{
		{"another filesystem, events expired", waiting("xfs"), certain},
		{"another filesystem, said and read", waiting("xfs").says(said("ext4", "xfs")), certain},
		{"a physical volume of LVM", waiting("LVM2_member").says(unknown("LVM2_member")), certain},
		{"a partition table has no type of its own", waiting("none").says(said("ext4", "unknown data, probably partitions")), certain},
		{"a member of a pool, which the agent does not know", waiting("none").says(unknown("zfs_member")), certain},
		{"the same of a driver that asks blkid itself", waiting("none").says("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to publish volume: requested ext4 volume, but disk /dev/sdb already is formatted with ceph_bluestore"), certain},
		{"a filesystem that is not there", waiting("none").says(said("ext4", "xfs")), clean},
		{"a disk with partitions is mounted whole", waiting("none").change(divided).says(whole), certain},
		{"a disk with partitions, refused for something else", waiting("none").change(divided).says(unknown("xfs")), clean},
		{"no partitions", waiting("none").says(whole), clean},
		{"LUKS where nothing is encrypted", waiting("crypto_LUKS"), certain},
		{"LUKS, and a Secret that may be for it", luks().change(unmarked), likely},
		{"LUKS that a mount met, and a Secret for something else", luks().change(unmarked).says(unknown("crypto_LUKS")), certain},
		{"LUKS that the driver opens, in its words", luks().change(unmarked).says(opens), clean},
		{"LUKS as it should be", luks().says(unknown("crypto_LUKS")), clean},
		{"words without the node", waiting("xfs").says(said("ext4", "xfs")).unprobed(), []string{"filesystem-type-mismatch possible PersistentVolume pv-data"}},
		{"another filesystem, a mount table was not read", waiting("xfs").lacks(probes.Mounts), []string{"filesystem-type-mismatch likely PersistentVolume pv-data"}},
		{"target named by a link only", waiting("xfs").change(byName), certain},
		{"ext3 to ext4", waiting("ext3"), clean},
		{"never formatted", waiting("none"), clean},
		{"multipathd has the disk", waiting("mpath_member").says(said("ext4", "mpath_member")), clean},
		{"right type, old words", waiting("ext4").says(said("ext4", "xfs")), clean},
		{"mounted as what it is", newHost(corev1.PodPending).mounts("xfs", "rw").typed("xfs"), clean},
		{"held by something above", waiting("LVM2_member").change(func(h *host) {
			h.f.Block[1].Holders = []string{"dm-0"}
			h.f.Block = append(h.f.Block, probes.BlockDevice{Name: "dm-0", Dev: probes.Dev{Major: 253}, Sectors: 8, Slaves: []string{"sdb"}, DM: &probes.DM{Name: "vg-lv", UUID: "LVM-x"}})
		}), clean},
		{"an attribute overrules fsType", luks().typed("xfs").change(func(h *host) {
			h.pv.Spec.CSI.FSType = "ext4"
			h.pv.Spec.CSI.VolumeAttributes = map[string]string{"iqn": iqn, "filesystem": "xfs"}
		}), clean},
		{"no type is asked for", luks().typed("xfs").change(func(h *host) {
			delete(h.pv.Spec.CSI.VolumeAttributes, "encrypted")
		}), clean},
		{"a kernel without the filesystem", waiting("ext4").says(unknown("ext4")), clean},
		{"nobody waits", newHost(corev1.PodRunning).typed("xfs"), clean},
	})
}
