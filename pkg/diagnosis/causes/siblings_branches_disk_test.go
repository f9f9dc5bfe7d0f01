package causes

import (
	"fmt"
	"strings"
	"testing"
)

// TestBranchesOfLocalPools: what keeps a pool from being there.
func TestBranchesOfLocalPools(t *testing.T) {
	t.Parallel()
	const absent = "verifyMount: GetVolumePath failed device not found /dev/datavg/pvc-11aa"
	const noDataset = "zfs: mount failed err : cannot open 'tank/pvc-22bb': dataset does not exist"
	const noKey = "dataset: mount failed err : cannot mount 'tank/pvc-22bb': encryption key not loaded\n"
	const dumb = "rpc error: code = Internal desc = dataset: mount failed err : mount: /x/mount: cannot mount tank/pvc-22bb read-only."
	lvm := func() *world { return lvmLocal().Waits().FailedMount(mountFails("pvc-11aa", absent)) }
	zfs := func(words string) *world {
		return zfsModule(zfsLocal()).Waits().FailedMount(mountFails("pvc-22bb", words))
	}
	locked := func(w *world) *world {
		return w.Disk("n1", "sdb", "8:16").Entries("n1", "@content/8:16", "TYPE=crypto_LUKS\nUUID=77", "etc/crypttab", "data UUID=77 none luks")
	}
	array := func() *world {
		return localDir("/mnt/raid").Waits().FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/raid\" does not exist").
			Entries("n1", "etc/fstab", "UUID=1 / ext4 defaults 0 1\n/dev/md0 /mnt/raid xfs defaults,nofail 0 2", "proc/mdstat", "Personalities : [raid1]\nunused devices: <none>")
	}
	const certain, likely = "broken: certain local-pool-inactive Node n1", "broken: likely local-pool-inactive Node n1"
	making := func(driver, parameter, words string) *world {
		w := pendingClaim(vol(driver, "pvc-33cc", ""), "WaitForFirstConsumer", anno(driver)+on("n1")).Edit("reclaimPolicy: Delete\nvolumeBindingMode", "parameters: {"+parameter+"}\nreclaimPolicy: Delete\nvolumeBindingMode")
		return pvcEvent(w, "Warning", "ProvisioningFailed", driver+"_controller-0_1", "failed to provision volume with StorageClass \"fast\": rpc error: code = Internal desc = "+words)
	}
	cut := func() *world {
		return making("local.csi.openebs.io", "volgroup: datavg", "the operation did not succeed")
	}
	lvmNode := strings.NewReplacer("zfs.openebs.io", "local.openebs.io", "ZFSNode", "LVMNode", "pools:", "volumeGroups:").Replace(zfsNode)
	tank := func() *world {
		return zfsModule(making("zfs.csi.openebs.io", "poolname: tank/k8s", "the operation did not succeed").Waits())
	}
	showEach(t, map[string]shown{
		"LVM on a disk that is locked":                 {locked(lvm()), certain},
		"LVM, another volume of the group is there":    {lvm().Disk("n1", "dm-0", "253:0", "dm/name", "datavg-other", "dm/uuid", "LVM-abcdef"), "broken: likely local-pool-inactive Node n1"},
		"ZFS on a disk that is locked":                 {locked(zfs(noDataset)), certain},
		"ZFS, the dataset's key":                       {zfs(noKey).Entries("n1", "proc/spl/kstat/zfs/tank/state", "ONLINE"), certain},
		"ZFS, the dataset's key, not looked at":        {zfs(noKey).Unprobed("n1", "PodRejected"), "broken: likely local-pool-inactive Node n1"},
		"ZFS, the dataset's key, in mount's words":     {zfs(dumb).Entries("n1", "proc/spl/kstat/zfs/tank/state", "ONLINE"), likely},
		"ZFS, no pool, in mount's words":               {zfs(dumb), "broken: certain local-pool-inactive Node n1"},
		"ZFS, a volume that is to be made":             {tank(), likely},
		"ZFS, it is to be made, the pool is there":     {tank().Entries("n1", "proc/spl/kstat/zfs/tank/state", "ONLINE"), "broken: certain provisioning-failed PersistentVolumeClaim shop/data"},
		"LVM, it is to be made, the node lists it not": {cut().Waits().Add(lvmNode), likely},
		"LVM, it is to be made, the node lists it":     {cut().Waits().Add(strings.Replace(lvmNode, "name: other", "name: datavg", 1)), "broken: certain provisioning-failed PersistentVolumeClaim shop/data"},
		"LVM, it is to be made, said":                  {making("topolvm.io", "a: b", "Volume group \"datavg\" not found").Waits(), likely},
		"md on a disk that is locked":                  {locked(array()), certain},
		"md, nothing of it was seen":                   {array(), certain},
	})
}

// TestMapsLeftOfVolumesElsewhere: the storage took the disk from n2, which keeps a dead map of it, while the volume works on n1.
func TestMapsLeftOfVolumesElsewhere(t *testing.T) {
	t.Parallel()
	const map7 = "degraded: likely multipath-map-orphaned Device n2/253:7"
	over := func(w *world, disks ...string) *world {
		return dmOver(w, "n2", "dm-7", "253:7", "mpathb", "mpath-3600a0980123456789012345678901234", disks...).Entries("n2", "@claim/253:7", "free")
	}
	dead := func(w *world, disks ...string) *world {
		for i, name := range disks {
			w = sanDisk(w, "n2", name, fmt.Sprintf("8:%d", 32+16*i)).Without("n2", "sys/class/block/"+name+"/device/state").Entries("n2", "sys/class/block/"+name+"/device/state", "offline")
		}
		return over(w, disks...)
	}
	other := func() *world { return dead(sanMounted(pureISCSI()), "sdc", "sdd") }
	showEach(t, map[string]shown{
		"two dead paths":                {other(), map7},
		"one dead path":                 {dead(sanMounted(pureISCSI()), "sdc"), map7},
		"no path":                       {over(sanMounted(pureISCSI())), map7},
		"the map of another volume":     {over(sanMounted(pureISCSI())).Moved("mpath-3600a0980123456789012345678901234", "mpath-3600a0980123456789012345678905555"), "healthy"},
		"what is attached is not known": {other().Gap("api/storage.k8s.io/volumeattachments", "Forbidden"), "unknown"},
		"it is attached there, too":     {other().Attached("n2"), "broken: certain multipath-map-orphaned Device n2/253:7"},
		"its paths work":                {over(sanDisk(sanDisk(sanMounted(pureISCSI()), "n2", "sdc", "8:32"), "n2", "sdd", "8:48"), "sdc", "sdd"), "healthy"},
	})
}

// TestTargetOfSeveralVolumes: what a node kept of a volume goes by its own paths, for a logout takes every disk of the target along.
func TestTargetOfSeveralVolumes(t *testing.T) {
	t.Parallel()
	const session = "sys/class/iscsi_session/session9/"
	kept := func(more ...string) *world {
		w := sanDisk(sanMounted(pureISCSI()), "n2", "sdc", "8:32").Entries("n2", "@claim/8:32", "free")
		return w.Entries("n2", session+"targetname", "iqn.1992-08.com.netapp:sn.1", session+"state", "LOGGED_IN", session+"device/target9:0:0/9:0:0:1/block/sdc", "@dir",
			"sys/class/iscsi_connection/connection9:0/persistent_address", "10.8.1.1", "sys/class/iscsi_connection/connection9:0/persistent_port", "3260").Entries("n2", more...)
	}
	shared := kept(session+"device/target9:0:0/9:0:0:2/block/sdd", "@dir").Disk("n2", "sdd", "8:48", "device/wwid", "naa.600a0980123456789012345678907777")
	for name, c := range map[string]struct {
		w         *world
		want, not string
	}{
		"its target has one disk":          {kept(), "--logout", "/device/delete"},
		"another disk hangs on its target": {shared, "/sys/class/block/sdc/device/delete", "--logout"},
	} {
		got, r := c.w.Verdict(t, Catalog(), "pvc shop/data")
		if got != "healthy: certain device-mapped-on-other-node Device n2/8:32" {
			t.Errorf("%s: %s", name, got)
			continue
		}
		commands := ""
		for _, s := range r.RootCauses[0].Remedies {
			commands += s.Title + "\n" + strings.Join(s.Commands, "\n")
		}
		if !strings.Contains(commands, c.want) || strings.Contains(commands, c.not) || strings.Contains(commands, "block/sdd") {
			t.Errorf("%s: %s", name, commands)
		}
	}
}

// TestBranchesOfDisks: maps, paths and numbers.
func TestBranchesOfDisks(t *testing.T) {
	t.Parallel()
	const map7 = "broken: certain multipath-map-orphaned Device n1/253:7"
	beside := func() *world {
		return sanDisk(lostPaths("transport-offline", "offline"), "n1", "sde", "8:64")
	}
	const luns = "sd 3:0:0:1: Warning! Received an indication that the LUN assignments on this target have changed. The Linux SCSI layer does not automatically remap LUN assignments."
	attached := func() *world {
		w := lhAttached(lhWorld("v1.7.2").Waits()).Without("n1", "dev/longhorn/").
			Entries("n1", "dev/longhorn/"+lhVol, "@device block 8:48")
		return w.FailedMount(stageFails("mount failed: exit status 32\nMounting arguments: -t ext4 /dev/longhorn/" + lhVol + " /g\nOutput: mount: /g: special device /dev/longhorn/" + lhVol + " does not exist."))
	}
	left := func() *world {
		w := sanDisk(sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32"), "n1", "sdd", "8:48")
		for _, disk := range []string{"sdc", "sdd"} {
			w.Without("n1", "sys/class/block/"+disk+"/device/state").Entries("n1", "sys/class/block/"+disk+"/device/state", "transport-offline")
		}
		return dmOver(w, "n1", "dm-7", "253:7", "mpathb", "mpath-3600a0980123456789012345678901234", "sdc", "sdd").
			Edit("nodeName: n1, restartPolicy", "nodeName: n2, restartPolicy").Edit("creationTimestamp: '2025-12-31T12:00:02Z'", "creationTimestamp: '2025-12-31T12:00:02Z', deletionTimestamp: '2026-01-02T11:30:00Z'")
	}
	staged := func() *world {
		w := dmOver(sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32"), "n1", "dm-7", "253:7", "mpathb", "mpath-3600a0980123456789012345678901234", "sdc").Answers("n1", pureISCSI().Stage())
		return w.Edit("creationTimestamp: '2025-12-31T12:00:02Z'", "creationTimestamp: '2025-12-31T12:00:02Z', deletionTimestamp: '2026-01-02T11:30:00Z'").
			Mounts("n1", "253:7 / "+w.Stage()+" rw,relatime shared:65 - xfs /dev/mapper/mpathb rw,attr2").Entries("n1", "sys/fs/xfs/dm-7/stats/stats", "x")
	}
	showEach(t, map[string]shown{
		"a map of one path that is only staged":                    {staged(), "broken: certain device-mapped-on-other-node Device n1/8:32; unexplained unmount-blocked"},
		"a map that an old attachment left, its sessions are gone": {left(), map7},
		"a mounted map whose disks came back":                      {beside(), map7},
		"an old map beside the new disk":                           {dmOver(sanDisk(pureISCSI().Edit("fsType: xfs", "fsType: ext4").Waits().Attached("n1"), "n1", "sde", "8:64").Entries("n1", "dev/disk/by-id/wwn-0x600a0980123456789012345678901234", "@link ../../sde"), "n1", "dm-7", "253:7", "mpathb", "mpath-3600a0980123456789012345678901234").FailedMount(stageFails("the operation did not succeed")), map7},
		"a warning of the kernel":                                  {sanWaits("xfs").FailedMount(stageFails("the operation did not succeed")).Entries("n1", "sys/class/scsi_device/3:0:0:1/device/block/sdc", "@dir").Kernel("n1", "70|"+luns), "broken: possible device-lun-reused Device n1/8:32; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"paths that are all of another volume":                     {lunMixed("naa.600a0980999999999999999999999999").Without("n1", "sys/class/block/sdc/device/wwid").Entries("n1", "sys/class/block/sdc/device/wwid", "naa.600a0980999999999999999999999999"), "broken: certain device-lun-reused Device n1/253:7"},
		"a number of Longhorn that is no disk":                     {attached(), "broken: certain device-is-not-the-volume Device n1/8:48"},
	})
	unowned := dmOver(pureISCSI().Disk("n1", "sdc", "8:32", "device/state", "offline"), "n1", "dm-7", "253:7", "mpathb", "mpath-3600a0980123456789012345678905555", "sdc")
	show(t, unowned, "node n1", strings.Replace(map7, "broken: certain", "degraded: likely", 1))
}
