package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

// sanMounted has an xfs of an array's disk under web-0.
func sanMounted(w *world) *world {
	const line = " rw,relatime shared:65 - xfs /dev/sdc rw,attr2,inode64,noquota"
	return sanDisk(w.Runs(0).Attached("n1"), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f2f2f2f-0000-4000-8000-000000000002", "sys/fs/xfs/sdc/stats/stats", "x").
		Mounts("n1", "8:32 / "+w.Stage()+line, "8:32 / "+w.Publish(0)+line).Answers("n1", w.Publish(0))
}

func sanWaits(typ string) *world {
	return sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE="+typ+"\nUUID=2f2f2f2f-0000-4000-8000-000000000002", "@claim/8:32", "free")
}

func stageFails(words string) string {
	return "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = " + words
}

func TestSiblingsReadOnly(t *testing.T) {
	t.Parallel()
	local := func(opts, super string) *world {
		return localDir("/mnt/disks/vol1").Runs(0).Disk("n1", "sdb1", "8:17").Mounts("n1", "8:17 / /mnt/disks/vol1 "+opts+",relatime shared:70 - ext4 /dev/sdb1 "+super, "8:17 / "+pods+"volumes/kubernetes.io~local-volume/pv-data "+opts+",relatime shared:70 - ext4 /dev/sdb1 "+super).
			LiveExt4("n1", "sdb1").Answers("n1", pods+"volumes/kubernetes.io~local-volume/pv-data", "/mnt/disks/vol1")
	}
	btrfs := func(super string) *world {
		w := pureISCSI().Edit("fsType: xfs", "fsType: btrfs").Runs(0).Attached("n1")
		line := " rw,relatime shared:65 - btrfs /dev/sdc " + super + ",space_cache=v2,subvolid=5,subvol=/"
		return sanDisk(w, "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=btrfs\nUUID=2f2f2f2f-0000-4000-8000-000000000002", "sys/fs/btrfs/2f2f2f2f-0000-4000-8000-000000000002/devices/sdc", "@link ../../../block/sdc").
			Mounts("n1", "0:71 / "+w.Stage()+line, "0:71 / "+w.Publish(0)+line).Answers("n1", w.Publish(0))
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"a local disk, remounted":                              {local("rw", "ro,errors=remount-ro").Entries("n1", "sys/fs/ext4/sdb1/errors_count", "2").Kernel("n1", "700|EXT4-fs error (device sdb1): ext4_lookup:1785: inode #2: comm app: deleted inode referenced: 11", "700|EXT4-fs (sdb1): Remounting filesystem read-only"), "broken: certain filesystem-readonly-after-error Device n1/8:17"},
		"a local disk, emergency":                              {local("rw", "emergency_ro").Entries("n1", "sys/fs/ext4/sdb1/errors_count", "1"), "broken: certain filesystem-readonly-after-error Device n1/8:17"},
		"the log rolled over":                                  {local("rw", "ro").Entries("n1", "sys/fs/ext4/sdb1/errors_count", "2"), "broken: certain filesystem-readonly-after-error Device n1/8:17"},
		"an administrator's remount":                           {local("rw", "ro").Kernel("n1", "700|EXT4-fs (sdb1): re-mounted 1f1f r/w. Quota mode: none."), "broken: unexplained volume-readonly"},
		"an old error, checked since":                          {local("rw", "rw").Entries("n1", "sys/fs/ext4/sdb1/errors_count", "2"), "healthy"},
		"xfs shut down":                                        {sanMounted(pureISCSI()).Kernel("n1", "300|XFS (sdc): log I/O error -5", "300|XFS (sdc): Filesystem has been shut down due to log error (0x2).", "300|XFS (sdc): Please unmount the filesystem and rectify the problem(s)").Entries("n1", "@statfs"+pureISCSI().Publish(0), "@error EIO"), "broken: certain filesystem-readonly-after-error Device n1/8:32"},
		"xfs shut down, old words":                             {sanMounted(pureISCSI()).Kernel("n1", "300|XFS (sdc): xfs_do_force_shutdown(0x2) called from line 1250 of file fs/xfs/xfs_log.c. Return address = 00000000a1b2c3d4", "300|XFS (sdc): Log I/O Error Detected. Shutting down filesystem"), "broken: certain filesystem-readonly-after-error Device n1/8:32"},
		"xfs shut down before the pod was made, mounted again": {sanMounted(pureISCSI()).Kernel("n1", "400000|XFS (sdc): Filesystem has been shut down due to log error (0x2).", "172750|XFS (sdc): Mounting V5 Filesystem 2f2f2f2f-0000-4000-8000-000000000002", "172750|XFS (sdc): Ending clean mount"), "healthy"},
		"another disk's xfs":                                   {sanMounted(pureISCSI()).Kernel("n1", "300|XFS (sdq): Filesystem has been shut down due to log error (0x2)."), "healthy"},
		"btrfs forced":                                         {btrfs("ro").Kernel("n1", "300|BTRFS: error (device sdc) in btrfs_commit_transaction:2410: errno=-5 IO failure (Error while writing out transaction)", "300|BTRFS info (device sdc): forced readonly"), "broken: certain filesystem-readonly-after-error Device n1/8:32"},
		"asked for by the mount options":                       {local("ro", "ro").Edit("nodeAffinity", "mountOptions: [ro]\n  nodeAffinity"), "healthy"},
		"the disk is write-protected":                          {local("ro", "ro").Entries("n1", "sys/class/block/sdb1/ro", "1"), "broken: unexplained volume-readonly"},
		"rbd":                                                  {rbdMounted(rbd().Runs(0), "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0)).Kernel("n1", "300|rbd: rbd0: write at objno 0 0~4096 result -108", "300|rbd: rbd0: write result -108", "300|EXT4-fs error (device rbd0): ext4_journal_check_start:84: comm app: Detected aborted journal", "300|EXT4-fs (rbd0): Remounting filesystem read-only").Entries("n1", "sys/fs/ext4/rbd0/errors_count", "1"), "broken: certain ceph-client-fenced Node n1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func TestSiblingsContent(t *testing.T) {
	t.Parallel()
	const badSuper = "mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t xfs -o defaults /dev/sdc /g\nOutput: mount: /g: wrong fs type, bad option, bad superblock on /dev/sdc, missing codepage or helper program, or other error."
	localWaits := func(fsType, typ string) *world {
		return sketch.NewWorld("", "", strings.ReplaceAll(strings.ReplaceAll(localPV, "path: /mnt/disks/vol1", "path: /dev/sdb1, fsType: "+fsType), "", "")).Waits().Disk("n1", "sdb1", "8:17").Entries("n1", "@content/8:17", "TYPE="+typ+"\nUUID=2f")
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"another type, state only":                    {sanWaits("ext4").FailedMount(stageFails("the operation did not succeed")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"a partition table":                           {sanWaits("dos").FailedMount(stageFails("failed to probe the device: unknown data, probably partitions")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"a partition table, state only":               {sanWaits("none\nPTTYPE=gpt").FailedMount(stageFails("the operation did not succeed")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"the last bytes of a PC's table":              {sanWaits("none\nPTTYPE=dos").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a PC's partition":                            {sanWaits("none\nPTTYPE=dos").Disk("n1", "sdc1", "8:33", "partition", "1").FailedMount(stageFails("the operation did not succeed")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"a volume of one partition":                   {sanWaits("none\nPTTYPE=gpt").Edit("fsType: xfs, ", "fsType: xfs, volumeAttributes: {partition: '1'}, ").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"luks":                                        {sanWaits("crypto_LUKS").FailedMount(stageFails("mount failed: exit status 32 Output: mount: /g: unknown filesystem type 'crypto_LUKS'.")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data; certain encryption-key-wrong PersistentVolume pv-data"},
		"a local device":                              {localWaits("xfs", "ext4").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb1 at /g (fstype: xfs), error the operation did not succeed"), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"a local device, node unseen":                 {localWaits("xfs", "ext4").Event("Pod", "web-0", sketch.UID+"00", "FailedMountOnFilesystemMismatch", "kubelet", "n1", "2026-01-02T11:59:00Z", "MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb1 at /g (fstype: xfs), error failed to mount the volume as \"xfs\", it already contains ext4. Mount error: mount failed: exit status 32").Unprobed("n1", "PodRejected"), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"a kernel name, a pool's member, node unseen": {localWaits("xfs", "ext4").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb1 at /g (fstype: xfs), error mount failed: exit status 32\nOutput: mount: /g: unknown filesystem type 'LVM2_member'.").Unprobed("n1", "PodRejected"), "broken: possible filesystem-type-mismatch PersistentVolume pv-data; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a kernel name, a pool's member, state only":  {localWaits("xfs", "LVM2_member").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : local: failed to mount device /dev/sdb1 at /g (fstype: xfs), error the operation did not succeed"), "broken: possible filesystem-type-mismatch PersistentVolume pv-data; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"ext3 asked, ext4 there":                      {sanWaits("ext4").Edit("fsType: xfs", "fsType: ext3").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"active swap":                                 {sanWaits("swap").Entries("n1", "@claim/8:32", "EBUSY", "proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sdc\tpartition\t10485756\t0\t-2").FailedMount(stageFails("mount failed: exit status 32\nOutput: mount: /g: /dev/sdc already mounted or mount point busy.")), "broken: certain device-held-by-process Device n1/8:32"},
		"swap, not in use":                            {sanWaits("swap").FailedMount(stageFails("mount failed: exit status 32 Output: mount: /g: unknown filesystem type 'swap'.")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"duplicate UUID, both read":                   {sanWaits("xfs").Disk("n1", "sdd", "8:48").Entries("n1", "@content/8:48", "TYPE=xfs\nUUID=2f2f2f2f-0000-4000-8000-000000000002").Mounts("n1", "8:48 / /var/lib/kubelet/pods/0ddc0de0-0000-4000-8000-000000000001/volumes/kubernetes.io~csi/pv-origin/mount rw shared:66 - xfs /dev/sdd rw").FailedMount(stageFails(badSuper)), "broken: certain xfs-uuid-duplicate Device n1/8:32"},
		"duplicate UUID, unknown disk":                {sanWaits("xfs").FailedMount(stageFails(badSuper)).Kernel("n1", "61|XFS (sdc): Filesystem has duplicate UUID 2f2f2f2f-0000-4000-8000-000000000002 - can't mount"), "broken: likely xfs-uuid-duplicate Device n1/8:32"},
		"duplicate UUID of its own dead mount":        {sanWaits("xfs").Mounts("n1", "8:96 / "+pureISCSI().Stage()+" rw shared:66 - xfs /dev/sdg rw").FailedMount(stageFails(badSuper)).Kernel("n1", "61|XFS (sdc): Filesystem has duplicate UUID 2f2f2f2f-0000-4000-8000-000000000002 - can't mount"), "broken: certain mount-of-dead-device Device n1/8:96"},
		"ro compat feature":                           {sanWaits("xfs").FailedMount(stageFails(badSuper)).Kernel("n1", "61|XFS (sdc): Superblock has unknown read-only compatible features (0x8) enabled.", "61|XFS (sdc): Attempted to mount read-only compatible filesystem read-write."), "broken: certain filesystem-feature-unsupported Device n1/8:32"},
		"ext4: orphan file":                           {sanWaits("ext4").Edit("fsType: xfs", "fsType: ext4").FailedMount(stageFails(strings.ReplaceAll(badSuper, "xfs", "ext4"))).Kernel("n1", "61|EXT4-fs (sdc): couldn't mount RDWR because of unsupported optional features (10000)"), "broken: certain filesystem-feature-unsupported Device n1/8:32"},
		"the bits alone":                              {sanWaits("xfs").Entries("n1", "@content/8:32", "TYPE=xfs\nUUID=2f\nFEATURES=incompat:0x6b,compat:0x0,ro_compat:0xf", "proc/sys/kernel/osrelease", "5.15.0-100-generic").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"fsck of a mounted one": {sanMounted(pureISCSI().Edit("fsType: xfs", "fsType: ext4")).Entries("n1", "@content/8:32", "TYPE=ext4\nUUID=2f").Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: second, uid: '5ec0c0de-0000-4000-8000-000000000001', creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {nodeName: n1, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i, volumeMounts: [{name: data, mountPath: /data}]}]}\nstatus: {phase: Pending, startTime: '2026-01-02T11:30:00Z', containerStatuses: [{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}]}").
			Event("Pod", "second", "5ec0c0de-0000-4000-8000-000000000001", "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z", stageFails("failed to run fsck on device /dev/sdc: exit status 8: fsck from util-linux 2.39\n/dev/sdc is mounted.\ne2fsck: Cannot continue, aborting.\n")), "broken: certain filesystem-checked-while-mounted Device n1/8:32"},
		"mkfs and reads fail":                 {sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "@error EIO").Kernel("n1", "61|blk_update_request: I/O error, dev sdc, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0").FailedMount(stageFails("format of disk \"/dev/sdc\" failed: type:(\"xfs\") target:(\"/g\") options:(\"defaults\") errcode:(exit status 1) output:(mkfs.xfs: pwrite failed: Input/output error)")), "broken: likely filesystem-mkfs-risk Device n1/8:32"},
		"empty, first use":                    {sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=none").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"XFS: in-memory corruption":           {sanWaits("xfs").FailedMount(stageFails(strings.ReplaceAll(badSuper, "wrong fs type, bad option, bad superblock on /dev/sdc, missing codepage or helper program, or other error.", "mount(2) system call failed: Structure needs cleaning."))).Kernel("n1", "61|XFS (sdc): Internal error xfs_trans_cancel at line 957 of file fs/xfs/xfs_trans.c", "61|XFS (sdc): Corruption of in-memory data detected.  Shutting down filesystem"), "broken: certain filesystem-needs-fsck Device n1/8:32"},
		"ext4: errors in the superblock only": {sanWaits("ext4").Edit("fsType: xfs", "fsType: ext4").Entries("n1", "@content/8:32", "TYPE=ext4\nUUID=2f\nSTATE=errors").FailedMount(stageFails("the operation did not succeed")), "broken: likely filesystem-needs-fsck Device n1/8:32"},
		"fsck gave up, I/O errors":            {sanWaits("ext4").Edit("fsType: xfs", "fsType: ext4").FailedMount(stageFails("'fsck' found errors on device /dev/sdc but could not correct them: .")).Kernel("n1", "61|I/O error, dev sdc, sector 98304 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2"), "broken: unexplained fsck-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

func TestSiblingsNodeFilesystem(t *testing.T) {
	t.Parallel()
	const encrypted = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: rbd.csi.ceph.com, fsType: ext4, volumeHandle: 0001-0009-rook-ceph-0000000000000002-bbbb, volumeAttributes: {clusterID: rook-ceph, pool: kube, imageName: csi-vol-bbbb, encrypted: 'true', encryptionKMSID: user}, nodeStageSecretRef: {namespace: rook-ceph, name: rook-csi-rbd-node}}"
	crypt := func() *world {
		return rbdMapped(sketch.NewWorld("rbd.csi.ceph.com", "0001-0009-rook-ceph-0000000000000002-bbbb", encrypted).Waits().Attached("n1"), "n1").Entries("n1", "@content/252:0", "TYPE=crypto_LUKS\nUUID=5f")
	}
	opening := func(says string) *world {
		return crypt().Entries("n1", "proc/modules", "dm_crypt 57344 0 - Live 0x0\nrbd 28672 0 - Live 0x0").FailedMount(stageFails("failed to run cryptsetup args: [luksOpen /dev/rbd0 luks-rbd-" + rbdHandle + " -d /dev/stdin] output: " + says))
	}
	mapper := func(w *world, name, uuid string) *world {
		return dmOver(w, "n1", "dm-3", "254:3", name, uuid, "rbd0").Entries("n1", "@claim/254:3", "free", "@claim/252:0", "EBUSY")
	}
	sayEach(t, map[string]said{
		"no key slot is left, or none is usable": {opening("No usable keyslot is available. error: exit status 1"), []string{"no key slot in the volume's header"}, nil},
		"its mapping stands already":             {mapper(opening("Device luks-rbd-"+rbdHandle+" already exists. error: exit status 5"), "luks-rbd-"+rbdHandle, "CRYPT-LUKS2-5f"), []string{"stands on node n1 already"}, []string{"cryptsetup close"}},
		"its mapping is not there":               {opening("Device luks-rbd-" + rbdHandle + " already exists. error: exit status 5"), nil, []string{"stands on node n1 already"}},
	})
	lh := "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: driver.crypt.example, fsType: ext4, volumeHandle: vol-77, volumeAttributes: {encrypted: 'true'}, nodeStageSecretRef: {namespace: shop, name: key}}"
	own := func() *world { return sketch.NewWorld("driver.crypt.example", "vol-77", lh).Waits().Attached("n1") }
	full := func() *world {
		return ebsDisk(ebs().Waits().Attached("n1"), "n1").Entries("n1", "@statfs/var/lib/kubelet", "62500000 0 0 16000000 15000000 4096")
	}
	labels := func(a, b string) *world {
		w := cephfsMounted(cephfs().Runs(0), "n1", 0).Answers("n1", cephfs().Publish(0), cephfs().Stage()).Entries("n1", "sys/fs/selinux/enforce", "1", "proc/5000/attr/current", a)
		const second = "5ec0c0de-0000-4000-8000-000000000001"
		w.Add("\napiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: second, uid: '" + second + "', creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {nodeName: n1, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i, volumeMounts: [{name: data, mountPath: /data}]}]}\nstatus: {phase: Running, startTime: '2026-01-02T11:30:00Z', conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: app, ready: true, restartCount: 0, image: i, imageID: '', state: {running: {startedAt: '2026-01-02T11:30:10Z'}}}]}")
		return w.Process("n1", 5100, second, "app", 4026532800, "").Entries("n1", "proc/5100/attr/current", b).Mounts("n1", "0:62 / /var/lib/kubelet/pods/"+second+"/volumes/kubernetes.io~csi/pv-data/mount rw,relatime shared:62 - ceph 10.9.1.1:6789:/volumes/csi/csi-vol-aaaa rw").Answers("n1", "/var/lib/kubelet/pods/"+second+"/volumes/kubernetes.io~csi/pv-data/mount")
	}
	for name, c := range map[string]struct {
		w         *world
		ask, want string
	}{
		"cryptsetup is not on the host":          {own().Without("n1", "usr/sbin/cryptsetup").FailedMount(stageFails("nsenter: failed to execute cryptsetup: No such file or directory: exit status 127")), "", "broken: certain encryption-tools-missing Node n1"},
		"cryptsetup is in the driver's image":    {crypt().Entries("n1", "proc/modules", "dm_crypt 57344 0 - Live 0x0\nrbd 28672 0 - Live 0x0").Without("n1", "usr/sbin/cryptsetup").FailedMount(stageFails("the operation did not succeed")), "", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the kernel has no dm_crypt":             {crypt().FailedMount(stageFails("failed to open device /dev/rbd0: exit status 1 device-mapper: reload ioctl on luks-rbd-k8s failed: Invalid argument")).Kernel("n1", "61|device-mapper: table: 253:5: crypt: unknown target type (-EINVAL)", "61|device-mapper: ioctl: error adding target to table"), "", "broken: certain encryption-tools-missing Node n1"},
		"a hash that the node does not have":     {opening("Cannot use whirlpool hash for keyslot encryption.\nKeyslot open failed.\nNo usable keyslot is available. error: exit status 1"), "", "broken: certain encryption-parameters-refused Node n1"},
		"no header, and a filesystem":            {opening("Device /dev/rbd0 is not a valid LUKS device. error: exit status 1").Entries("n1", "@content/252:0", "TYPE=ext4\nUUID=5f"), "", "broken: certain encryption-key-wrong PersistentVolume pv-data"},
		"no header, and nothing else":            {opening("Device /dev/rbd0 is not a valid LUKS device. error: exit status 1").Entries("n1", "@content/252:0", "TYPE=none"), "", "broken: likely encryption-key-wrong PersistentVolume pv-data"},
		"no header, and there is one":            {opening("Device /dev/rbd0 is not a valid LUKS device. error: exit status 1"), "", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"somebody's mapping over a plain disk":   {mapper(rbdMapped(rbd().Waits().Attached("n1"), "n1"), "secret", "CRYPT-PLAIN-secret").FailedMount(stageFails("mount failed: exit status 32 Output: mount: /g: /dev/rbd0 already mounted or mount point busy.")), "", "broken: likely device-claimed-by-unknown Device n1/252:0"},
		"kubelet's filesystem is full":           {full().FailedMount("MountVolume.SetUp failed for volume \"kube-api-access-x\" : write /var/lib/kubelet/pods/x: no space left on device"), "", "broken: certain filesystem-full Node n1"},
		"kubelet's filesystem is full, no words": {full().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : the operation did not succeed"), "", "broken: certain filesystem-full Node n1"},
		"NFS share is full":                      {nfsMounted(nfs().Runs(0), "n1", 0).Entries("n1", "@statfs"+nfs().Publish(0), "2621440 0 0 655360 600000 4096").File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z OSError: [Errno 28] No space left on device: '/data/x'\n"), "", "broken: certain filesystem-full PersistentVolumeClaim shop/data"},
		"watches, the driver's words":            {ebsDisk(ebs().Waits().Attached("n1"), "n1").FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : no space left on device").Entries("n1", "proc/sys/fs/inotify/max_user_watches", "8192", "proc/sys/fs/inotify/max_user_instances", "128"), "", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"watches, kubelet's log":                 {ebsDisk(ebs().Waits().Attached("n1"), "n1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ebs.csi.aws.com not found in the list of registered CSI drivers").Entries("n1", "proc/sys/fs/inotify/max_user_watches", "8192", "proc/sys/fs/inotify/max_user_instances", "128", "var/log/kubelet.log", "E0102 11:58:30.000000     911 kubelet.go:1431] \"Failed to start plugin watcher\" err=\"failed to create new watcher: too many open files\"\n"), "", "broken: certain node-watch-limit-reached Node n1"},
		"two levels, running":                    {labels("system_u:system_r:container_t:s0:c1,c2", "system_u:system_r:container_t:s0:c3,c4").File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z open /data/x: permission denied\n"), "", "broken: certain selinux-label-conflict Pod shop/web-0"},
		"two levels, nobody refused":             {labels("system_u:system_r:container_t:s0:c1,c2", "system_u:system_r:container_t:s0:c3,c4"), "", "healthy"},
		"one level":                              {labels("system_u:system_r:container_t:s0:c1,c2", "system_u:system_r:container_t:s0:c1,c2"), "", "healthy"},
		"a privileged reader":                    {labels("system_u:system_r:container_t:s0:c1,c2", "system_u:system_r:spc_t:s0"), "", "healthy"},
		"the event of 1.33":                      {cephfs().Waits().Event("Pod", "web-0", sketch.UID+"00", "SELinuxLabelConflict", "selinux-warning-controller", "", "2026-01-02T11:59:00Z", "SELinuxLabel \":::s0:c1,c2\" conflicts with pod second that uses the same volume as this pod with SELinuxLabel \":::s0:c3,c4\". If both pods land on the same node, only one of them may access the volume."), "pod shop/web-0", "broken: certain selinux-label-conflict Pod shop/web-0"},
		"kubelet waits for the other label":      {cephfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : waiting for unmount of volume \"pv-data\", because it is already mounted to a different pod with a different SELinux label"), "pod shop/web-0", "broken: certain selinux-label-conflict Pod shop/web-0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.ask == "" {
				c.ask = "pvc shop/data"
			}
			show(t, c.w, c.ask, c.want)
		})
	}
}
