package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

const onN1 = "\nnodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}"

func lvmLocal() *world {
	return sketch.NewWorld("local.csi.openebs.io", "pvc-11aa", "accessModes: [ReadWriteOnce]\ncsi: {driver: local.csi.openebs.io, fsType: ext4, volumeHandle: pvc-11aa, volumeAttributes: {openebs.io/volgroup: datavg}}"+onN1).Edit("pv-data", "pvc-11aa")
}

func zfsLocal() *world {
	return sketch.NewWorld("zfs.csi.openebs.io", "pvc-22bb", "accessModes: [ReadWriteOnce]\ncsi: {driver: zfs.csi.openebs.io, fsType: zfs, volumeHandle: pvc-22bb, volumeAttributes: {openebs.io/poolname: tank}}"+onN1).Edit("pv-data", "pvc-22bb")
}

// lvmMapped is a logical volume that is mapped and cannot be mounted.
func lvmMapped() *world {
	return lvmLocal().Waits().FailedMount(mountFails("pvc-11aa", "mount failed: exit status 32")).Disk("n1", "dm-0", "253:0", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:0")
}

// lvmMounted is a logical volume in use, over sdb.
func lvmMounted() *world {
	return lvmLocal().Runs(0).Disk("n1", "dm-0", "253:0", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef", "slaves/sdb", "@dir").
		Mounts("n1", "253:0 / "+strings.Replace(lvmLocal().Publish(0), "pv-data", "pvc-11aa", 1)+" rw,relatime shared:64 - ext4 /dev/mapper/datavg-pvc--11aa rw")
}

func mountFails(pv, words string) string {
	return "MountVolume.SetUp failed for volume \"" + pv + "\" : rpc error: code = Internal desc = " + words
}

func zfsModule(w *world) *world {
	return w.Entries("n1", "proc/modules", "zfs 28672 0 - Live 0x0\nspl 28672 0 - Live 0x0\noverlay 28672 0 - Live 0x0", "proc/filesystems", "nodev\tzfs\n\text4")
}

const zfsNode = `
apiVersion: zfs.openebs.io/v1
kind: ZFSNode
metadata: {namespace: openebs, name: n1}
pools: [{name: other, uuid: '123', free: 10Gi}]
`

func localDir(path string) *world {
	return sketch.NewWorld("", "", strings.ReplaceAll(localPV, "/mnt/disks/vol1", path))
}

func localPublish(w *world, dev, root string) *world {
	return w.Mounts("n1", dev+" "+root+" /var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data rw,relatime shared:70 - ext4 /dev/x rw")
}

func TestSiblingsLocal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"LVM: group not active, its disk is there": {lvmLocal().Waits().FailedMount(mountFails("pvc-11aa", "verifyMount: GetVolumePath failed device not found /dev/datavg/pvc-11aa")).Disk("n1", "sdb", "8:16").Entries("n1", "@content/8:16", "TYPE=LVM2_member\nUUID=abc"),
			"broken: certain local-pool-inactive Node n1"},
		"LVM: a member is missing": {lvmLocal().Waits().FailedMount(mountFails("pvc-11aa", "mount: special device /dev/datavg/pvc-11aa does not exist")).Disk("n1", "sdb", "8:16").Entries("n1", "@content/8:16", "TYPE=LVM2_member\nUUID=abc", "run/lvm/pvs_online/abc", "8:16"),
			"broken: certain local-pool-inactive Node n1"},
		"LVM: a member is missing, says fsconfig": {lvmLocal().Waits().FailedMount(mountFails("pvc-11aa", "mount: /g: fsconfig() failed: /dev/datavg/pvc-11aa: Can't lookup blockdev.")).Disk("n1", "sdb", "8:16").Entries("n1", "@content/8:16", "TYPE=LVM2_member\nUUID=abc", "run/lvm/pvs_online/abc", "8:16"),
			"broken: certain local-pool-inactive Node n1"},
		"LVM: nobody looked, the driver's node object lacks the group": {lvmLocal().Waits().FailedMount(mountFails("pvc-11aa", "Volume group \"datavg\" not found")).Unprobed("n1", "PodRejected").
			Add("\napiVersion: local.openebs.io/v1alpha1\nkind: LVMNode\nmetadata: {namespace: openebs, name: n1}\nvolumeGroups: [{name: other, missingPvCount: 0}]"),
			"broken: likely local-pool-inactive Node n1"},
		"LVM: the path of a local PV, below a locked disk": {localDir("/dev/datavg/lv1").Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : path \"/dev/datavg/lv1\" does not exist").Disk("n1", "sdb", "8:16").
			Entries("n1", "@content/8:16", "TYPE=crypto_LUKS\nUUID=11111111-2222-4333-8444-555555555555", "etc/crypttab", "data UUID=11111111-2222-4333-8444-555555555555 none luks"),
			"broken: certain local-pool-inactive Node n1"},
		"made by hand, and an idle disk has its size": {localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:2", "/mnt/disks/vol1").Entries("n1", "mnt/disks/vol1", "@dir", "sys/class/block/sda2/size", "520000000").Disk("n1", "sdb", "8:16"),
			"broken: likely local-disk-not-mounted PersistentVolume pv-data"},
		"made by hand, and two idle disks have its size": {localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:2", "/mnt/disks/vol1").Entries("n1", "mnt/disks/vol1", "@dir", "sys/class/block/sda2/size", "520000000").Disk("n1", "sdb", "8:16").Disk("n1", "sdc", "8:32"),
			"healthy"},
		"made by hand since the node started, and an idle disk has its size": {localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:2", "/mnt/disks/vol1").Entries("n1", "mnt/disks/vol1", "@dir", "sys/class/block/sda2/size", "520000000").Disk("n1", "sdb", "8:16").EditIn("kind: PersistentVolume\n", "2025-12-01T08:00:00Z", "2025-12-30T08:00:00Z"),
			"healthy"},
		"made by hand, and an idle disk has another size": {localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:2", "/mnt/disks/vol1").Entries("n1", "mnt/disks/vol1", "@dir", "sys/class/block/sda2/size", "520000000").Disk("n1", "sdb", "8:16").Entries("n1", "sys/class/block/sdb/size", "41943040"),
			"healthy"},
		"LVM: there, the mount fails otherwise": {lvmMapped(),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"LVM: mapped over a disk that was pulled, and is back": {lvmMapped().Disk("n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=LVM2_member\nUUID=abc"),
			"broken: likely local-pool-inactive Node n1"},
		"LVM: mapped over a disk that is offline, and is back": {lvmMapped().Disk("n1", "sdb", "8:16", "holders/dm-0", "@dir", "device/state", "offline").Entries("n1", "sys/class/block/dm-0/slaves/sdb", "@dir").Disk("n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=LVM2_member\nUUID=abc"),
			"broken: likely local-pool-inactive Node n1"},
		"LVM: in use over a disk that is offline, and is back": {lvmMounted().Disk("n1", "sdb", "8:16", "holders/dm-0", "@dir", "device/state", "offline").Disk("n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=LVM2_member\nUUID=abc"),
			"broken: likely mount-of-dead-device Device n1/253:0"},
		"LVM: in use over a disk that is offline, and the other one is held": {lvmMounted().Disk("n1", "sdb", "8:16", "holders/dm-0", "@dir", "device/state", "offline").Disk("n1", "sdc", "8:32", "holders/dm-1", "@dir").Disk("n1", "dm-1", "253:1", "dm/name", "other-lv", "dm/uuid", "LVM-ghijkl").Entries("n1", "@content/8:32", "TYPE=LVM2_member\nUUID=abc"),
			"unknown"},
		"LVM: mapped over its disk, another one is free": {lvmMapped().Disk("n1", "sdb", "8:16", "holders/dm-0", "@dir").Entries("n1", "sys/class/block/dm-0/slaves/sdb", "@dir").Disk("n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=LVM2_member\nUUID=abc"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"LVM: a container of a pod that was deleted by force has it": {lvmLocal().Waits().Disk("n1", "dm-0", "253:0", "dm/name", "datavg-pvc--11aa", "dm/uuid", "LVM-abcdef").Entries("n1", "dev/datavg/pvc-11aa", "@device block 253:0").LiveExt4("n1", "dm-0").
			Mounts("n1", "253:0 / /var/lib/kubelet/pods/5000c0de-0000-4000-8000-000000000009/volumes/kubernetes.io~csi/pvc-11aa/mount rw,relatime shared:71 - ext4 /dev/mapper/datavg-pvc--11aa rw").
			Process("n1", 9000, "5000c0de-0000-4000-8000-000000000009", "postgres", 4026532999, "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u\n901 900 253:0 / /data rw,relatime - ext4 /dev/mapper/datavg-pvc--11aa rw").
			FailedMount(mountFails("pvc-11aa", "verifyMount: device already mounted at [/var/lib/kubelet/pods/5000c0de-0000-4000-8000-000000000009/volumes/kubernetes.io~csi/pvc-11aa/mount]")),
			"broken: likely device-held-by-process Process n1/9000"},
		"ZFS: not imported": {zfsModule(zfsLocal()).Waits().FailedMount(mountFails("pvc-22bb", "zfs: mount failed err : cannot open 'tank/pvc-22bb': dataset does not exist")),
			"broken: certain local-pool-inactive Node n1"},
		"ZFS: imported, the dataset is gone": {zfsModule(zfsLocal()).Waits().FailedMount(mountFails("pvc-22bb", "zfs: mount failed err : cannot open 'tank/pvc-22bb': dataset does not exist")).Entries("n1", "proc/spl/kstat/zfs/tank/state", "ONLINE"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"ZFS: another dataset of the pool is mounted": {zfsModule(zfsLocal()).Waits().FailedMount(mountFails("pvc-22bb", "mount failed: exit status 1\\nOutput: zfs_mount_at() failed: mountpoint or dataset is busy")).Mounts("n1", "0:80 / /srv/media rw,relatime shared:71 - zfs tank/media rw,xattr,noacl"),
			"broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"ZFS: no module": {zfsLocal().Waits().FailedMount(mountFails("pvc-22bb", "The ZFS modules cannot be auto-loaded.")),
			"broken: certain kernel-module-missing Node n1"},
		"ZFS: nobody looked, the node object lacks the pool": {zfsLocal().Waits().FailedMount(mountFails("pvc-22bb", "zfs get mountpoint failed, cannot open 'tank/pvc-22bb': dataset does not exist")).Unprobed("n1", "PodRejected").Add(zfsNode),
			"broken: likely local-pool-inactive Node n1"},
		"ZFS: suspended under a running pod": {zfsModule(zfsLocal()).Runs(0).Mounts("n1", "0:80 / /var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~csi/pvc-22bb/mount rw,relatime shared:71 - zfs tank/pvc-22bb rw,xattr,noacl").Entries("n1", "proc/spl/kstat/zfs/tank/state", "SUSPENDED").Entries("n1", "@statfs/var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~csi/pvc-22bb/mount", "@hang").Kernel("n1", "300|WARNING: Pool 'tank' has encountered an uncorrectable I/O failure and has been suspended."),
			"broken: unexplained volume-hung"},
		"Talos: nobody looked, its kubelet runs in a container": {localDir("/var/mnt/ssd").Waits().FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/var/mnt/ssd\" does not exist").Edit("osImage: Debian GNU/Linux 12 (bookworm)", "osImage: Talos (v1.8.3)").Unprobed("n1", "PodRejected"),
			"broken: likely hostpath-type-mismatch PersistentVolume pv-data"},
		"md: the array is not there": {localDir("/mnt/raid").Waits().FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/raid\" does not exist").Entries("n1", "etc/fstab", "UUID=1 / ext4 defaults 0 1\n/dev/md0 /mnt/raid xfs defaults,nofail 0 2", "proc/mdstat", "Personalities : [raid1]\nunused devices: <none>").Disk("n1", "sdb", "8:16").Entries("n1", "@content/8:16", "TYPE=linux_raid_member"),
			"broken: certain local-pool-inactive Node n1"},
		"a kernel name that a smaller disk of the node has now": {localDir("/dev/sdb").Waits().Disk("n1", "sdb", "8:16").Entries("n1", "sys/class/block/sdb/size", "2097152").LiveExt4("n1", "sdb").Mounts("n1", "8:16 / /var/log rw,relatime shared:60 - ext4 /dev/sdb rw").Disk("n1", "sdc", "8:32").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb at /m (fstype: ext4), error mount failed: exit status 32\nOutput: mount: /m: /dev/sdb already mounted on /var/log."),
			"broken: likely device-renumbered Device n1/8:16"},
		"a kernel name that a smaller disk has now, which a volume group of the node lies on": {localDir("/dev/sdb").Waits().Disk("n1", "sdb", "8:16", "holders/dm-0", "@dir").Entries("n1", "sys/class/block/sdb/size", "2097152", "sys/class/block/dm-0/slaves/sdb", "@dir", "@content/8:16", "TYPE=LVM2_member").
			Disk("n1", "dm-0", "253:0", "dm/name", "vg_sys-log", "dm/uuid", "LVM-abcdef").LiveExt4("n1", "dm-0").Mounts("n1", "253:0 / /var/log rw,relatime shared:60 - ext4 /dev/mapper/vg_sys-log rw").Disk("n1", "sdc", "8:32").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb at /m (fstype: ext4), error mount failed: exit status 32\nOutput: mount: /m: unknown filesystem type 'LVM2_member'."),
			"broken: likely device-renumbered Device n1/8:16"},
		"a kernel name whose disk the node has mounted": {localDir("/dev/sdb").Waits().Disk("n1", "sdb", "8:16").LiveExt4("n1", "sdb").Mounts("n1", "8:16 / /var/log rw,relatime shared:60 - ext4 /dev/sdb rw").Disk("n1", "sdc", "8:32").
			FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb at /m (fstype: ext4), error mount failed: exit status 32\nOutput: mount: /m: /dev/sdb already mounted on /var/log."),
			"broken: certain device-held-by-process Device n1/8:16"},
		"fstab entry not mounted": {localDir("/mnt/disks/vol1").Waits().FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/mnt/disks/vol1\" does not exist").Entries("n1", "etc/fstab", "UUID=1 / ext4 defaults 0 1\nUUID=77 /mnt/disks xfs defaults,nofail 0 2"),
			"broken: certain local-disk-not-mounted PersistentVolume pv-data"},
		"unit not mounted, pod writes to the root disk": {localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:2", "/mnt/disks/vol1").Entries("n1", "etc/systemd/system/mnt-disks-vol1.mount", "[Mount]\nWhat=/dev/disk/by-uuid/77\nWhere=/mnt/disks/vol1\nType=xfs", "@statfs/var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data", "62500000 40000000 40000000 16000000 15000000 4096"),
			"broken: certain local-disk-not-mounted PersistentVolume pv-data"},
		"made by the static provisioner, the path leads through a link": {localPublish(localDir("/mnt/disks/vol1").Edit("provisioned-by: \"\"", "provisioned-by: local-volume-provisioner-n1-1").Runs(0), "8:17", "/").Disk("n1", "sdb1", "8:17").LiveExt4("n1", "sdb1").Mounts("n1", "8:17 / /var/mnt/disks/vol1 rw,relatime shared:70 - ext4 /dev/sdb1 rw"),
			"healthy"},
		"made by the static provisioner, nothing is mounted": {localPublish(localDir("/mnt/disks/vol1").Edit("provisioned-by: \"\"", "provisioned-by: local-volume-provisioner-n1-1").Runs(0), "8:2", "/mnt/disks/vol1"),
			"broken: certain local-disk-not-mounted PersistentVolume pv-data"},
		"the path is a link to a device, which the kubelet mounts": {localPublish(localDir("/mnt/local-storage/fast/sdb").Edit("provisioned-by: \"\"", "provisioned-by: local-volume-provisioner-n1-1").Runs(0), "8:16", "/").Disk("n1", "sdb", "8:16").LiveExt4("n1", "sdb").Mounts("n1", "8:16 / /var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/pv-data rw,relatime shared:70 - ext4 /dev/sdb rw"),
			"healthy"},
		"a plain directory on purpose": {localPublish(localDir("/opt/local-path-provisioner/pvc-1").Runs(0), "8:2", "/opt/local-path-provisioner/pvc-1").Entries("n1", "@statfs/var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data", "62500000 40000000 40000000 16000000 15000000 4096"),
			"healthy"},
		"a directory below a disk that was mounted after the pod started": {lateDisk(sketch.UID),
			"broken: certain local-disk-not-mounted PersistentVolume pv-data"},
		"a directory below a disk that was mounted after the pod started, and came to the pod": {lateDisk(sketch.UID, "902 901 8:17 /pvc-1 /data rw,relatime master:70 - ext4 /dev/sdb1 rw"),
			"healthy"},
		"a disk of its own": {localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:17", "/").Disk("n1", "sdb1", "8:17").LiveExt4("n1", "sdb1").Mounts("n1", "8:17 / /mnt/disks/vol1 rw,relatime shared:70 - ext4 /dev/sdb1 rw").Entries("n1", "@statfs/var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data", "2621440 2000000 2000000 655360 600000 4096"),
			"healthy"},
		"no such directory": {localDir("/data/pg").Waits().FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/data/pg\" does not exist"),
			"broken: certain hostpath-type-mismatch PersistentVolume pv-data"},
		"no such directory, which a provisioner made, and nobody looked": {localDir("/data/pg").Edit("provisioned-by: \"\"", "provisioned-by: openebs.io/local").Waits().Unprobed("n1", "PodRejected").FailedMount("MountVolume.NewMounter initialization failed for volume \"pv-data\" : path \"/data/pg\" does not exist"),
			"broken: likely hostpath-type-mismatch PersistentVolume pv-data"},
		"node affinity names a node that does not exist": {localDir("/data/pg").Edit("values: [n1]", "values: [node-1]").Drop("kind: Pod\nmetadata: {namespace: shop").Waits().Edit("nodeName: n1, restartPolicy", "restartPolicy").Edit("{type: PodScheduled, status: 'True', lastTransitionTime: '2026-01-02T11:30:00Z'}", "{type: PodScheduled, status: 'False', reason: Unschedulable, message: \"0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity.\", lastTransitionTime: '2026-01-02T11:30:00Z'}"),
			"broken: certain topology-conflict PersistentVolume pv-data"},
		"root filesystem full": {localPublish(localDir("/opt/local/pvc-1").Runs(0), "8:2", "/opt/local/pvc-1").Entries("n1", "@statfs/var/lib/kubelet", "62500000 0 0 16000000 15000000 4096", "@statfs/var/lib/kubelet/pods/"+sketch.UID+"00/volumes/kubernetes.io~local-volume/pv-data", "62500000 0 0 16000000 15000000 4096"),
			"degraded: certain filesystem-full Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// lateDisk is a pod on a directory of the root disk, over whose parent a disk was mounted since.
func lateDisk(pod string, more ...string) *sketch.World {
	return localPublish(localDir("/opt/local-path-provisioner/pvc-1").Runs(0), "8:2", "/opt/local-path-provisioner/pvc-1").Disk("n1", "sdb1", "8:17").LiveExt4("n1", "sdb1").
		Mounts("n1", "8:17 / /opt/local-path-provisioner rw,relatime shared:70 - ext4 /dev/sdb1 rw").
		Entries("n1", "@statfs/var/lib/kubelet/pods/"+pod+"00/volumes/kubernetes.io~local-volume/pv-data", "62500000 40000000 40000000 16000000 15000000 4096").
		Process("n1", 9000, pod+"00", "postgres", 4026532999, strings.Join(append([]string{"900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u", "901 900 8:2 /opt/local-path-provisioner/pvc-1 /data rw,relatime - ext4 /dev/sda2 rw"}, more...), "\n"))
}

// TestGrowsOverSmallerDisks: the size of a logical volume is not that of a disk below it.
func TestGrowsOverSmallerDisks(t *testing.T) {
	t.Parallel()
	grows := func(sectors string) *world {
		const claim, at = "kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", pods + "volumes/kubernetes.io~csi/pvc-11aa/mount"
		w := lvmLocal().Runs(0).EditIn("kind: PersistentVolume\n", "capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}").EditIn(claim, "requests: {storage: 10Gi}", "requests: {storage: 20Gi}").
			EditIn(claim, "status: {phase: Bound", "status: {conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}], phase: Bound").
			Disk("n1", "sdb", "8:16").Disk("n1", "sdc", "8:32")
		return dmOver(w, "n1", "dm-0", "253:0", "datavg-pvc--11aa", "LVM-abcdef", "sdb", "sdc").Without("n1", "sys/class/block/dm-0/size").Entries("n1", "sys/class/block/dm-0/size", sectors, "dev/datavg/pvc-11aa", "@device block 253:0").
			Mounts("n1", "253:0 / "+at+" rw,relatime shared:64 - ext4 /dev/mapper/datavg-pvc--11aa rw").LiveExt4("n1", "dm-0").Entries("n1", "@statfs"+at, "2576875 100 100 655360 589824 4096")
	}
	const old, read = "kept its old size", "has not read it again"
	sayEach(t, map[string]said{
		"the volume has grown, its filesystem has not": {grows("41943040"), []string{"the file system on dm-0 " + old}, []string{read, "sdb"}},
		"the volume has not":                           {grows("20971520"), []string{"dm-0, the volume itself, " + old}, []string{read}},
	})
}

// TestDiskOfOneNode: a disk that is gone comes back with its driver, or it was the node's own.
func TestDiskOfOneNode(t *testing.T) {
	t.Parallel()
	own := lvmLocal().Runs(0)
	at := strings.Replace(own.Publish(0), "pv-data", "pvc-11aa", 1)
	own.Mounts("n1", "253:7 / "+at+" rw,relatime shared:300 - ext4 /dev/mapper/datavg-pvc--11aa rw").Entries("n1", "@statfs"+at, "@error EIO")
	cloud := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Without("n1", "sys/class/block/nvme1n1").Without("n1", "dev/nvme1n1").Without("n1", "dev/disk/by-id/nvme").Without("n1", "@content/259:1").Entries("n1", "@statfs"+ebs().Publish(0), "@error EIO")
	const alone = "The disk is one of node n1 alone"
	sayEach(t, map[string]said{
		"the node's own": {own, []string{"mount-of-dead-device", alone}, nil},
		"of a cloud":     {cloud, []string{"mount-of-dead-device"}, []string{alone}},
	})
}
