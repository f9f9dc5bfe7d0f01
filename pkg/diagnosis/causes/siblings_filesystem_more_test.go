package causes

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
)

const (
	gceDiskPV   = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: pd.csi.storage.gke.io, fsType: ext4, volumeHandle: projects/p/zones/europe-west1-b/disks/pvc-9f4b1c77}"
	azureDiskPV = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: disk.csi.azure.com, fsType: ext4, volumeHandle: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/pvc-9f4b1c77}"
)

func gceWaits() *world {
	w := sketch.NewWorld("pd.csi.storage.gke.io", "projects/p/zones/europe-west1-b/disks/pvc-9f4b1c77", gceDiskPV).Waits().Attached("n1")
	return w.Disk("n1", "sdb", "8:16", "device/vendor", "Google", "device/model", "PersistentDisk", "device/state", "running").Entries("n1", "dev/disk/by-id/google-pvc-9f4b1c77", "@link ../../sdb", "@claim/8:16", "free")
}

func azureWaits() *world {
	w := sketch.NewWorld("disk.csi.azure.com", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/pvc-9f4b1c77", azureDiskPV).Waits().Attached("n1").Edit("status: {attached: true}", "status: {attached: true, attachmentMetadata: {LUN: '1'}}")
	return w.Disk("n1", "sdc", "8:32", "device/vendor", "Msft", "device/model", "Virtual Disk", "device/state", "running").Entries("n1", "dev/disk/azure/scsi1/lun1", "@link ../../../sdc", "@claim/8:32", "free")
}

func TestSiblingsPastAndUnseen(t *testing.T) {
	t.Parallel()
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	past := func(w *world, reason, words string) *world {
		return w.Event("Pod", "web-0", sketch.UID+"00", reason, "kubelet", "n1", "2025-12-31T12:00:05Z", words)
	}
	const refused = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"fsck refused, mounted since":                              {past(runs(), "FailedMount", refused+"'fsck' found errors on device /dev/nvme1n1 but could not correct them: ."), "healthy"},
		"another type, mounted since":                              {past(runs(), "FailedMount", refused+"failed to mount the volume as \"ext4\", it already contains xfs. Mount error: x"), "healthy"},
		"the watch limit, mounted since":                           {past(runs(), "FailedMount", refused+"failed to create fsnotify watcher: too many open files"), "healthy"},
		"xfs shut down, log not read":                              {sanMounted(pureISCSI()).Without("n1", "@kmsg").Entries("n1", "@kmsg", "@error EPERM"), "unknown"},
		"read-only by the application's words, node unseen":        {runs().Unprobed("n1", "PodRejected").File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z write /data/x: read-only file system\n"), "broken: unexplained volume-readonly"},
		"fsck gave up, one table unread":                           {sanWaits("ext4").Edit("fsType: xfs", "fsType: ext4").Entries("n1", "proc/9000/comm", "x", "proc/9000/ns/mnt", "@error EACCES").FailedMount(stageFails("'fsck' found errors on device /dev/sdc but could not correct them: .")), "broken: likely filesystem-needs-fsck Device n1/8:32"},
		"another type on a disk of its size that the driver names": {sketch.NewWorld("san.csi.example", "vol-5", "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: san.csi.example, fsType: xfs, volumeHandle: vol-5}").Waits().Attached("n1").Disk("n1", "sdc", "8:32").FailedMount(stageFails("failed to mount the volume as \"xfs\", it already contains ext4. Mount error: mount failed: exit status 32\nMounting arguments: -t xfs /dev/sdc /g")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"GCE, another type":                                        {gceWaits().Entries("n1", "@content/8:16", "TYPE=xfs\nUUID=2f").FailedMount(stageFails("the operation did not succeed")), "broken: certain filesystem-type-mismatch PersistentVolume pv-data"},
		"GCE, damaged":                                             {gceWaits().Entries("n1", "@content/8:16", "TYPE=ext4\nUUID=2f\nSTATE=errors").FailedMount(stageFails("'fsck' found errors on device /dev/disk/by-id/google-pvc-9f4b1c77 but could not correct them: fsck from util-linux 2.38.1\nUNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.")), "broken: certain filesystem-needs-fsck Device n1/8:16"},
		"Azure, damaged":                                           {azureWaits().Entries("n1", "@content/8:32", "TYPE=ext4\nUUID=2f\nSTATE=errors").FailedMount(stageFails("'fsck' found errors on device /dev/disk/azure/scsi1/lun1 but could not correct them: fsck from util-linux 2.38.1\nUNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.")), "broken: certain filesystem-needs-fsck Device n1/8:32"},
		"Azure, feature":                                           {azureWaits().FailedMount(stageFails("mount failed: exit status 32 Output: mount: /g: wrong fs type, bad option, bad superblock on /dev/sdc")).Kernel("n1", "61|EXT4-fs (sdc): couldn't mount because of unsupported optional features (20000)"), "broken: certain filesystem-feature-unsupported Device n1/8:32"},
		"a raw block volume with a filesystem":                     {ebsDisk(blockPV().Waits().Attached("n1"), "n1").Entries("n1", "@content/259:1", "TYPE=xfs\nUUID=2f").FailedMount("MapVolume.SetUpDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = x"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"no fsType in the PV":                                      {sanWaits("btrfs").Edit("fsType: xfs, ", "").FailedMount(stageFails("the operation did not succeed")), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"reserved blocks only":                                     {runs().Entries("n1", "@statfs"+ebs().Publish(0), "2621440 100000 0 655360 600000 4096").File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z write /data/x: no space left on device\n"), "broken: certain filesystem-full PersistentVolumeClaim shop/data"},
		"no space, room everywhere":                                {runs().File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z write /data/x: no space left on device\n"), "broken: unexplained volume-io-error"},
		"no inodes below kubelet, for a volume that is well":       {runs().Entries("n1", "@statfs/var/lib/kubelet", "62500000 40000000 40000000 16000000 0 4096"), "healthy"},
		"mkfs, a volume of seconds":                                {sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32").Edit("name: pv-data, uid: 'a0000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z'", "name: pv-data, uid: 'a0000000-0000-4000-8000-000000000001', creationTimestamp: '2026-01-02T11:29:00Z'").Entries("n1", "@content/8:32", "TYPE=none").FailedMount(stageFails("format of disk \"/dev/sdc\" failed: type:(\"xfs\") target:(\"/g\") options:(\"defaults\") errcode:(exit status 1) output:(mkfs.xfs: invalid option)")), "broken: unexplained format-failed; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"mkfs found it empty, an old volume":                       {sanDisk(pureISCSI().Waits().Attached("n1"), "n1", "sdc", "8:32").Entries("n1", "@content/8:32", "TYPE=none").FailedMount(stageFails("format of disk \"/dev/sdc\" failed: type:(\"xfs\") target:(\"/g\") options:(\"defaults\") errcode:(exit status 1) output:(mkfs.xfs: cannot open /dev/sdc: Device or resource busy)")), "broken: unexplained format-failed; unexplained mount-busy; unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"shut down, and the share of another pod is gone":          {sanMounted(pureISCSI()).Kernel("n1", "300|XFS (sdc): Filesystem has been shut down due to log error (0x2).").Mounts("n1", "0:99 / /var/lib/kubelet/pods/0ddc0de0-0000-4000-8000-000000000001/volumes/kubernetes.io~nfs/other rw shared:99 - nfs4 10.9.0.9:/x rw,addr=10.9.0.9").Entries("n1", "@statfs/var/lib/kubelet/pods/0ddc0de0-0000-4000-8000-000000000001/volumes/kubernetes.io~nfs/other", "@error ESTALE"), "broken: certain filesystem-readonly-after-error Device n1/8:32"},
		"e2fsck of 1.47 says it differently":                       {attachedEBS().FailedMount(stageFails("'fsck' found errors on device /dev/nvme1n1 but could not correct them: fsck from util-linux 2.34\n/dev/nvme1n1 has unsupported feature(s): orphan_file FEATURE_R15\ne2fsck: Get a newer version of e2fsck!\n")), "broken: certain filesystem-feature-unsupported Device n1/259:1"},
		"xfs_repair is older":                                      {ebsXFS(attachedEBS()).FailedMount(stageFails("'xfs_repair' found errors on device /dev/nvme1n1 but could not correct them: Phase 1 - find and verify superblock...\nSuperblock has unknown compat/rocompat/incompat features (0x0/0x0/0x20).\nUsing a more recent xfs_repair is recommended.\nFound unsupported filesystem features.  Exiting now.")), "broken: certain filesystem-feature-unsupported Device n1/259:1"},
		"XFS needs repair":                                         {ebsXFS(attachedEBS()).FailedMount(stageFails("mount failed: exit status 32 Output: mount: /g: mount(2) system call failed: Structure needs cleaning.")).Kernel("n1", "61|XFS (nvme1n1): Filesystem needs repair.  Please run xfs_repair."), "broken: certain filesystem-needs-fsck Device n1/259:1"},
		"ext4: journal not readable":                               {attachedEBS().FailedMount(stageFails("mount failed: exit status 32 Output: mount: /g: can't read superblock on /dev/nvme1n1.")).Kernel("n1", "61|EXT4-fs (nvme1n1): ext4_check_descriptors: Checksum for group 0 failed (50214!=0)", "61|EXT4-fs (nvme1n1): group descriptors corrupted!"), "broken: likely filesystem-needs-fsck Device n1/259:1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// ended is a pod whose containers have ended since it was deleted ten minutes ago.
func ended(w *world) *world {
	return w.Without("n1", "proc/5000/").Edit("name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:50:00Z', deletionGracePeriodSeconds: 30, uid").
		Edit("ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://"+strings.Repeat("ab", 31)+"00', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}", "ready: false, restartCount: 0, image: i, imageID: '', state: {terminated: {exitCode: 0, reason: Completed, finishedAt: '2026-01-02T11:50:05Z'}}")
}

func attachedEBS() *world { return ebsDisk(ebs().Waits().Attached("n1"), "n1") }

func TestSiblingsMountMore(t *testing.T) {
	t.Parallel()
	btrfs := func() *world {
		return sanDisk(moved(pureISCSI()), "n1", "sdc", "8:32").Edit("fsType: xfs", "fsType: btrfs").Entries("n1", "@content/8:32", "TYPE=btrfs\nUUID=2f2f2f2f-0000-4000-8000-000000000002",
			"sys/fs/btrfs/2f2f2f2f-0000-4000-8000-000000000002/devices/sdc", "@link ../../../block/sdc", "@claim/8:32", "EBUSY")
	}
	runs := func() *world {
		return ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	for name, c := range map[string]struct {
		w    *world
		want string
	}{
		"btrfs, pinned by a unit":                                  {unit(btrfs(), "n1", 1888, "snapper", "901 900 0:71 / /mnt/x rw,relatime - btrfs /dev/sdc rw,subvolid=5,subvol=/"), "broken: certain mount-pinned-in-namespace Process n1/1888"},
		"btrfs, detached lazily":                                   {btrfs(), "broken: certain mount-lazily-detached Device n1/8:32"},
		"a pod that ends, an agent has a copy":                     {agent(ended(ebsDisk(ebs().Runs(0).Attached("n1"), "n1").LiveExt4("n1", "nvme1n1")), "n1", "901 900 259:1 / /host"+ebs().Publish(0)+" rw,relatime - ext4 /dev/nvme1n1 rw"), "broken: certain mount-pinned-in-namespace Pod monitoring/agent-1"},
		"a pod that ends and a shell stands in it":                 {ended(runs()).Entries("n1", "proc/9100/comm", "bash", "proc/9100/cgroup", "0::/user.slice/user-0.slice/session-3.scope", "proc/9100/cmdline", "bash␀", "proc/9100/ns/mnt", "@link mnt:[4026531841]", "proc/9100/status", "Name:\tbash\nState:\tS (sleeping)\nTgid:\t9100\nPid:\t9100\nPPid:\t1203\nUid:\t0\t0\t0\t0\nNSpid:\t9100", "proc/9100/cwd", "@link "+ebs().Publish(0), "@dev/proc/9100/cwd", "259:1"), "broken: certain device-held-by-process Process n1/9100"},
		"an agent has a copy of a volume that runs":                {agent(runs(), "n1", "901 900 259:1 / /host"+ebs().Publish(0)+" rw,relatime - ext4 /dev/nvme1n1 rw"), "healthy"},
		"a new pod waits here, its disk is mounted by a unit only": {unit(ebsDisk(ebs().Waits().Attached("n1"), "n1").LiveExt4("n1", "nvme1n1").Entries("n1", "@claim/259:1", "EBUSY").FailedMount(devFailed("mount: /g/globalmount: /dev/nvme1n1 already mounted or mount point busy.")), "n1", 1888, "systemd-udevd", "901 900 259:1 / /mnt rw,relatime - ext4 /dev/nvme1n1 rw"), "broken: certain mount-pinned-in-namespace Process n1/1888"},
		"kubelet's directory is its own private mount":             {nfs().Waits().FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed").Mounts("n1", "8:3 / /var rw,relatime - ext4 /dev/sda3 rw", "8:3 /lib/kubelet /var/lib/kubelet rw,relatime shared:77 - ext4 /dev/sda3 rw"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"a private directory under pods that run":                  {nfsMounted(nfs().Runs(0), "n1", 0).Answers("n1", nfs().Publish(0)).Mounts("n1", "8:3 / /var/lib/kubelet rw,relatime - ext4 /dev/sda3 rw"), "healthy"},
		"dead under a pod that ends":                               {ended(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1")).Without("n1", "sys/class/block/nvme1n1").Without("n1", "dev/nvme1n1").Without("n1", "dev/disk/by-id/nvme").Without("n1", "@content/259:1").Entries("n1", "@statfs"+ebs().Publish(0), "@error EIO"), "broken: certain mount-of-dead-device Device n1/259:1"},
		"dead, the disks were not read":                            {ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Without("n1", "sys/class/block").Entries("n1", "sys/class/block", "@error EACCES", "@statfs"+ebs().Publish(0), "@error EIO"), "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show(t, c.w, "pvc shop/data", c.want)
		})
	}
}

// TestSiblingsByAnotherName: the disk, its encryption or its mount is known, and by no name
// that the volume has.
func TestSiblingsByAnotherName(t *testing.T) {
	t.Parallel()
	const header, wwid, other = "5f5f5f5f-0000-4000-8000-000000000005", "600a0980123456789012345678901234", "6000c29bbbbbbbbbbbbbbbbbbbbbbbbb"
	const opened, neutral = "CRYPT-LUKS2-5f5f5f5f000040008000000000000005-", "the operation did not succeed"
	luks := func(more string) *world {
		w := sanDisk(pureISCSI().Edit("fsType: xfs", "fsType: ext4").Edit("volumeHandle: "+wwid, "volumeHandle: "+wwid+more).Waits().Attached("n1"), "n1", "sdd", "8:48")
		return w.Entries("n1", "@content/8:48", "TYPE=crypto_LUKS\nUUID="+header, "dev/disk/by-id/wwn-0x"+wwid, "@link ../../sdd", "proc/modules", "dm_crypt 57344 1 - Live 0x0").FailedMount(stageFails(neutral))
	}
	const hpe = ", volumeAttributes: {hostEncryption: 'true', hostEncryptionSecretName: hpe-enc, hostEncryptionSecretNamespace: hpe}"
	ceph := encryptedRBD().Without("n1", "sys/bus/rbd/").Entries("n1", "sys/bus/rbd/devices/1/pool", "kube", "sys/bus/rbd/devices/1/name", "csi-vol-bbbb", "sys/bus/rbd/devices/1/major", "252", "sys/bus/rbd/devices/1/minor", "0")
	vsphere := func(disk, number string) *world {
		w := sketch.NewWorld("csi.vsphere.vmware.com", "e4c3b2a1-1111-4222-8333-123456789abc", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.vsphere.vmware.com, fsType: ext4, volumeHandle: e4c3b2a1-1111-4222-8333-123456789abc}").
			Runs(0).Attached("n1").Edit("status: {attached: true}", "status: {attached: true, attachmentMetadata: {diskUUID: 6000c29aaaaaaaaaaaaaaaaaaaaaaaaa}}")
		for _, d := range [][3]string{{"sdb", "8:16", "6000c29aaaaaaaaaaaaaaaaaaaaaaaaa"}, {"sdc", "8:32", other}} {
			w.Disk("n1", d[0], d[1], "device/wwid", "naa."+d[2], "device/vendor", "VMware", "device/model", "Virtual disk", "device/state", "running").Entries("n1", "dev/disk/by-id/wwn-0x"+d[2], "@link ../../"+d[0])
		}
		return mountedAs(w, "n1", number, disk)
	}
	array := func() *world {
		w := sketch.NewWorld("csi.hpe.com", "063aba3d50ec99d866000000000000000000000001", "accessModes: [ReadWriteOnce]\ncsi: {driver: csi.hpe.com, fsType: ext4, volumeHandle: 063aba3d50ec99d866000000000000000000000001}").Edit("attachRequired: false", "attachRequired: true").Waits().Attached("n1")
		for d, number := range map[string]string{"sdc": "8:32", "sdd": "8:48"} {
			w.Disk("n1", d, number, "device/wwid", "naa.60002ac0000000000000000000000001", "device/vendor", "3PARdata", "device/state", "running")
		}
		return dmOver(w, "n1", "dm-7", "253:7", "mpathb", "mpath-360002ac0000000000000000000000001", "sdc", "sdd").Entries("n1", "@content/253:7", "TYPE=ext4\nUUID=1f")
	}
	twin := func(super string) *world {
		return sanWaits("xfs").Disk("n1", "sdd", "8:48").Entries("n1", "@content/8:48", "TYPE=xfs\nUUID=2f2f2f2f-0000-4000-8000-000000000002").Mounts("n1", "8:48 / /srv/origin rw shared:66 - xfs /dev/sdd "+super).FailedMount(stageFails(neutral))
	}
	grows := ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0)).Edit("storage: 10Gi", "storage: 20Gi").EditIn("kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data", "capacity: {storage: 20Gi}", "capacity: {storage: 10Gi}, conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}]").
		Event("Pod", "web-0", sketch.UID+"00", "VolumeResizeFailed", "kubelet", "n1", "2026-01-02T11:59:00Z", "NodeExpandVolume.NodeExpandVolume failed for volume \"pv-data\" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = xfs_growfs: XFS_IOC_FSGROWFSDATA xfsctl failed: Structure needs cleaning")
	armored := crashes(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))).File("logs/shop/web-0/app.log", "2026-01-02T11:58:00Z FATAL:  could not open file \"/data/postmaster.pid\": Permission denied\n").
		Kernel("n1", "62|audit: type=1400 audit(1767355138.000:77): apparmor=\"DENIED\" operation=\"open\" class=\"file\" profile=\"k8s-postgres\" name=\"/data/postmaster.pid\" pid=99121 comm=\"postgres\" requested_mask=\"wc\" denied_mask=\"wc\" fsuid=999 ouid=999")
	const juicePV = "accessModes: [ReadWriteMany]\ncsi: {driver: csi.juicefs.com, volumeHandle: pvc-j1}"
	for _, r := range []row{
		{"ceph-csi's name over nothing", "broken: certain crypt-mapper-stale Device n1/253:0", dmOver(ceph, "n1", "dm-0", "253:0", "luks-rbd-"+rbdHandle, opened+"x").FailedMount(stageFails("Device luks-rbd-" + rbdHandle + " already exists."))},
		{"a header that is open over nothing", "broken: certain crypt-mapper-stale Device n1/253:0", dmOver(luks(""), "n1", "dm-0", "253:0", "luks-abc", opened+"luks-abc")},
		{"its driver cannot open a header, and no record calls it encrypted", "broken: certain encryption-key-wrong PersistentVolume pv-data", sanWaits("ext4").Without("n1", "@content/8:32").Entries("n1", "@content/8:32", "TYPE=crypto_LUKS\nUUID=1f").FailedMount(stageFails("cryptsetup luksOpen: No key available with this passphrase."))},
		{"nobody read whether a header is the driver's own", "broken: likely filesystem-type-mismatch PersistentVolume pv-data", sanWaits("ext4").Without("n1", "@content/8:32").Entries("n1", "@content/8:32", "TYPE=crypto_LUKS\nUUID=1f").Gap("api//events", "Forbidden")},
		{"a driver has too little memory to open a header", "broken: certain encryption-parameters-refused Node n1", sanWaits("ext4").Without("n1", "@content/8:32").Entries("n1", "@content/8:32", "TYPE=crypto_LUKS\nUUID=1f").FailedMount(stageFails("cryptsetup luksOpen failed: exit status 3: Not enough available memory to open a keyslot."))},
		{"nothing below the mapping that its driver meets", "broken: certain crypt-mapper-stale Device n1/253:0", dmOver(luks(""), "n1", "dm-0", "253:0", "abc", "CRYPT-LUKS2-"+strings.ReplaceAll(header, "-", "")+"-abc").FailedMount(stageFails("unable to open LUKS device abc: Device abc already exists."))},
		{"the same, opened from another header", "broken: likely crypt-mapper-stale Device n1/253:0", dmOver(luks(""), "n1", "dm-0", "253:0", "abc", "CRYPT-LUKS2-9f5f5f5f000040008000000000000009-"+"abc").FailedMount(stageFails("unable to open LUKS device abc: Device abc already exists."))},
		{"another disk below the mapping that its driver meets", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", dmOver(luks("").Disk("n1", "sde", "8:64"), "n1", "dm-0", "253:0", "abc", "CRYPT-LUKS2-9f5f5f5f000040008000000000000009-"+"abc", "sde").FailedMount(stageFails("unable to open LUKS device abc: Device abc already exists."))},
		{"nothing below the name of its disk's link", "broken: certain crypt-mapper-stale Device n1/253:0", dmOver(luks(""), "n1", "dm-0", "253:0", "scsi-0X_abc", "CRYPT-LUKS2-9f5f5f5f000040008000000000000009-"+"scsi-0X_abc").Entries("n1", "dev/disk/by-id/scsi-0X_abc", "@link ../../sdd")},
		{"a header that is open over another disk", "broken: certain filesystem-type-mismatch PersistentVolume pv-data; certain encryption-key-wrong PersistentVolume pv-data", dmOver(luks("").Disk("n1", "sde", "8:64"), "n1", "dm-0", "253:0", "luks-abc", opened+"luks-abc", "sde")},
		{"open, and the mount fails: not the key", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", dmOver(luks("").Entries("n1", "@claim/8:48", "EBUSY"), "n1", "dm-0", "253:0", "luks-abc", opened+"luks-abc", "sdd")},
		{"the Secret is named by an attribute", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", luks(hpe)},
		{"argon2 wants more memory", "broken: certain encryption-parameters-refused Node n1", encryptedRBD().FailedMount(stageFails("an error (exit status 3) occurred while running cryptsetup args: [luksOpen /dev/rbd0 x]: Not enough available memory to open a keyslot."))},
		{"another disk of the hypervisor", "broken: likely device-is-not-the-volume Device n1/8:32", vsphere("sdc", "8:32")},
		{"the disk that the attachment names", "healthy", vsphere("sdb", "8:16")},
		{"the driver names a map of paths", "broken: certain filesystem-feature-unsupported Device n1/253:7", array().FailedMount(stageFails("mount: /g: wrong fs type, bad option, bad superblock on /dev/mapper/mpathb, missing codepage or helper program, or other error.")).Kernel("n1", "61|EXT4-fs (dm-7): Couldn't mount because of unsupported optional features (20000)")},
		{"the original of a copy is mounted, no words", "broken: likely xfs-uuid-duplicate Device n1/8:32", twin("rw")},
		{"its driver mounts copies with nouuid", "broken: unexplained mount-failed; unexplained pod-waiting-for-volume", twin("rw,nouuid")},
		{"what shall grow it finds damage", "broken: likely filesystem-needs-fsck Device n1/259:1", grows},
		{"a path as the container sees it", "broken: certain security-module-denies Pod shop/web-0", armored},
		{"a daemon's own directory of the handle", "broken: possible fuse-daemon-dead Pod shop/web-0; unexplained mount-failed; unexplained pod-waiting-for-volume; unexplained volume-io-error", sketch.NewWorld("csi.juicefs.com", "pvc-j1", juicePV).Waits().Unprobed("n1", "PodRejected").FailedMount(mountFails("pv-data", "stat /var/lib/jfs/pvc-j1: transport endpoint is not connected"))},
		{"the node's own disk is closed for writing", "broken: certain filesystem-readonly-after-error Node n1", ebs().Waits().FailedMount(stageFails("mkdir /var/lib/kubelet/plugins/kubernetes.io/csi/x: read-only file system")).Moved("8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw", "8:2 / / ro,relatime shared:1 - ext4 /dev/sda2 ro").Without("n1", "sys/fs/ext4/sda2").Entries("n1", "sys/fs/ext4/sda2/errors_count", "9").Kernel("n1", "900|EXT4-fs (sda2): Remounting filesystem read-only")},
		{"another root of kubelet's", "broken: certain mount-pinned-in-namespace Pod monitoring/agent-1", agent(ebsDisk(moved(ebs()), "n1").LiveExt4("n1", "nvme1n1"), "n1", "901 900 259:1 / /host/x rw,relatime - ext4 /dev/nvme1n1 rw").Moved("--config=/var/lib/kubelet/config.yaml", "--root-dir=/var/lib/k0s/kubelet␀--config=/var/lib/k0s/kubelet/config.yaml", "var/lib/kubelet", "var/lib/k0s/kubelet")},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			show(t, r.w, "pvc shop/data", r.want)
		})
	}
}

// TestToolAtWork: the driver makes or checks a large filesystem, and the kubelet does not wait.
func TestToolAtWork(t *testing.T) {
	t.Parallel()
	const late = "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = DeadlineExceeded desc = context deadline exceeded"
	works := func(comm, disk, text string) *world {
		return ebsDisk(ebs().Waits().Attached("n1"), "n1").Process("n1", 6000, "5000c0de-0000-4000-8000-000000000001", comm, 4026532500, "").
			Entries("n1", "proc/6000/cmdline", comm+"␀"+disk+"␀", "proc/6000/stat", "6000 ("+comm+") D 4100 1 1 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 86280000 0 0 18446744073709551615").FailedMount(text)
	}
	has := func(comm, uid string) *world {
		return works(comm, "/dev/nvme1n1", late).Process("n1", 6000, uid, comm, 4026532500, "").Entries("n1", "proc/6000/stat", "6000 ("+comm+") D 4100 1 1 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 86280000 0 0 18446744073709551615",
			"proc/6000/fd/3", "@link /dev/nvme1n1", "proc/6000/fdinfo/3", "pos:\t0\nflags:\t0100202", "@claim/259:1", "EBUSY")
	}
	const stuck = "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"
	const claim = "kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data"
	asks := func(w *world) *world {
		return w.EditIn("kind: PersistentVolume\n", "capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}").
			EditIn(claim, "requests: {storage: 10Gi}", "requests: {storage: 20Gi}").EditIn(claim, "status: {phase: Bound", "status: {conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:40:00Z'}], phase: Bound")
	}
	grows := func(comm string) *world {
		return asks(ebsMounted(ebs().Runs(0), "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))).
			Process("n1", 6000, "5000c0de-0000-4000-8000-000000000001", comm, 4026532500, "").Entries("n1", "proc/6000/cmdline", comm+"␀/dev/nvme1n1␀", "proc/6000/stat", "6000 ("+comm+") D 4100 1 1 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 86340000 0 0 18446744073709551615")
	}
	says := func(plugin, words string) *world {
		w := ebsDisk(ebs().Waits().Attached("n1"), "n1").FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : " + words)
		return w.EditIn("name: plugin-1, uid", "startedAt: '2025-11-07T13:25:00Z'", "startedAt: '"+plugin+"'")
	}
	again := func(plugin string) *world {
		return says(plugin, "kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ebs.csi.aws.com not found in the list of registered CSI drivers")
	}
	refused := func(plugin, driver string) *world {
		return says(plugin, "rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: dial unix /var/lib/kubelet/plugins/"+driver+"/csi.sock: connect: connection refused\"")
	}
	showEach(t, map[string]shown{
		"it grows":         {grows("resize2fs"), "waiting"},
		"it does not grow": {grows("sleep"), "degraded: certain expansion-failed-on-node PersistentVolumeClaim shop/data"},
		"it is not grown for a pod that waits, by the node's own refusal": {asks(ebsDisk(ebs().Waits().Attached("n1"), "n1")).FailedMount("MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = failed to resize filesystem on /dev/nvme1n1: resize of device /dev/nvme1n1 failed: exit status 1. resize2fs output: resize2fs 1.46.5 (30-Dec-2021)\nresize2fs: Operation not permitted while trying to open /dev/nvme1n1\n"),
			"broken: certain expansion-failed-on-node PersistentVolumeClaim shop/data"},
		"the plugin started since":                    {again("2026-01-02T11:59:30Z"), "waiting"},
		"the plugin did not answer before it started": {refused("2026-01-02T11:59:30Z", ebs().Driver), "waiting"},
		"the plugin does not answer":                  {refused("2026-01-02T11:58:30Z", ebs().Driver), "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"},
		"the plugin of another driver did not answer": {refused("2026-01-02T11:59:30Z", "efs.csi.aws.com"), "broken: unexplained mount-failed; unexplained pod-waiting-for-volume"},
		"the plugin started long ago":                 {again("2026-01-02T09:59:30Z"), "broken: likely csi-plugin-not-registered Pod kube-system/plugin-1"},
		"a check":                                     {works("fsck.ext4", "/dev/nvme1n1", late), "waiting"},
		"a format":                                    {works("mkfs.xfs", "/dev/nvme1n1", late), "waiting"},
		"the driver says it, too":                     {works("e2fsck", "/dev/nvme1n1", pending("NodeStage", ebs().Handle)), "waiting"},
		"a format that has the disk":                  {has("mkfs.xfs", "5000c0de-0000-4000-8000-000000000001"), "waiting"},
		"a stranger has the disk":                     {has("mkfs.xfs", ""), "broken: certain device-held-by-process Process n1/6000"},
		"a check of another disk":                     {works("fsck.ext4", "/dev/sda", late), stuck},
		"the kernel says it hangs":                    {works("fsck.ext4", "/dev/nvme1n1", late).Kernel("n1", "300|INFO: task fsck.ext4:6000 blocked for more than 120 seconds."), stuck},
		"a newer kernel says so":                      {works("fsck.ext4", "/dev/nvme1n1", late).Kernel("n1", "300|INFO: task fsck.ext4:6000 blocked in I/O wait for more than 122 seconds."), stuck},
		"somebody says what fails":                    {works("fsck.ext4", "/dev/nvme1n1", devFailed("mount: /g: wrong fs type")), stuck},
	})
}
