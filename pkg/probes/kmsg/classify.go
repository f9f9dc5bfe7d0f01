package kmsg

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// form is one wording: all parts must be in the text, in this order.
type form struct {
	kind  string
	parts []string
}

// forms are tried in order, so that a narrow wording stands above a wide one.
// The words are those of the kernels 4.x to 6.18; sources beside each group.
var forms = []form{
	// fs/ext4/super.c, fs/jbd2
	{UnsupportedFeature, []string{"EXT4-fs (", "because of unsupported optional features"}},
	{UnsupportedFeature, []string{"EXT4-fs (", "unsupported"}},
	{UnsupportedFeature, []string{"EXT4-fs (", "metadata_csum feature"}},
	{UnsupportedFeature, []string{"EXT4-fs (", "bad block size"}},
	{BadSuperblock, []string{"VFS: Can't find ext", " filesystem"}},
	{BadSuperblock, []string{"VFS: Found ext", "invalid superblock checksum"}},
	{BadSuperblock, []string{"EXT4-fs (", "unable to read superblock"}},
	{BadSuperblock, []string{"EXT4-fs (", "bad geometry"}},
	{BadSuperblock, []string{"EXT4-fs (", "group descriptors corrupted"}},
	{BadSuperblock, []string{"EXT4-fs (", "get root inode failed"}},
	{BadSuperblock, []string{"EXT4-fs (", "ext4_check_descriptors"}},
	{BadJournal, []string{"EXT4-fs (", "rror loading journal"}},
	{BadJournal, []string{"EXT4-fs (", "ould not load journal inode"}},
	{BadJournal, []string{"EXT4-fs (", "o journal found"}},
	{BadJournal, []string{"JBD2: no valid journal superblock found"}},
	{RemountedReadOnly, []string{"Remounting filesystem read-only"}},
	{Ext4Aborted, []string{"EXT4-fs error (device ", "Detected aborted journal"}},
	{Ext4Aborted, []string{"EXT4-fs error (device ", "Journal has aborted"}},
	{Ext4Aborted, []string{"Aborting journal on device "}},
	{Ext4Aborted, []string{"EXT4-fs (", "shut down requested"}},
	{Ext4Error, []string{"EXT4-fs error (device "}},
	{Ext4Remembered, []string{"EXT4-fs warning (device ", "mounting fs with errors"}},
	{Ext4Remembered, []string{"EXT4-fs (", "warning: mounting fs with errors"}},
	{Ext4Remembered, []string{"EXT4-fs (", "error count since last fsck"}},
	{Ext4Remembered, []string{"EXT4-fs (", "initial error at time"}},
	{Ext4Remembered, []string{"EXT4-fs (", "last error at time"}},
	{IOError, []string{"EXT4-fs warning (device ", "I/O error"}},
	{IOError, []string{"EXT4-fs (", "I/O error while writing superblock"}},
	{IOError, []string{"JBD2: ", "when updating journal superblock"}},
	{Recovered, []string{"EXT4-fs (", "recovery complete"}},
	{Remounted, []string{"EXT4-fs (", "re-mounted"}},
	{Mounted, []string{"EXT4-fs (", "mounted filesystem"}},
	{Unmounted, []string{"EXT4-fs (", "unmounting filesystem"}},
	{MountRefused, []string{"EXT4-fs (", "mount failed"}},
	{MountRefused, []string{"EXT4-fs (", "Unrecognized mount option"}},
	{MountRefused, []string{": Unknown parameter '"}},
	// fs/xfs
	{XFSDuplicateUUID, []string{"XFS (", "duplicate UUID", "can't mount"}},
	{UnsupportedFeature, []string{"XFS (", "Superblock has unknown", "compatible features"}},
	{UnsupportedFeature, []string{"XFS (", "Attempted to mount read-only compatible filesystem read-write"}},
	{UnsupportedFeature, []string{"XFS (", "can only be safely mounted read only"}},
	{UnsupportedFeature, []string{"XFS (", "unsupported feature"}},
	{UnsupportedFeature, []string{"XFS (", "File system with blocksize", "will currently work"}},
	{XFSShutdown, []string{"XFS (", "hutting down filesystem"}},
	{XFSShutdown, []string{"XFS (", "has been shut down"}},
	{XFSShutdown, []string{"XFS (", "shutdown received"}},
	{XFSShutdown, []string{"XFS (", "xfs_do_force_shutdown"}},
	{XFSShutdown, []string{"XFS (", "lease unmount the filesystem"}},
	{XFSShutdown, []string{"XFS (", "lease umount the filesystem"}},
	{XFSCorruption, []string{"XFS (", "orruption detected"}},
	{XFSCorruption, []string{"XFS (", "orruption of "}},
	{XFSCorruption, []string{"XFS (", "Metadata CRC error"}},
	{XFSCorruption, []string{"XFS (", "Internal error"}},
	{XFSCorruption, []string{"XFS (", "run xfs_repair"}},
	{BadSuperblock, []string{"XFS (", "Invalid superblock magic number"}},
	{BadSuperblock, []string{"XFS (", "SB validate failed"}},
	{BadSuperblock, []string{"XFS (", "last sector read failed"}},
	{IOError, []string{"XFS (", "log recovery", "I/O error"}},
	{IOError, []string{"XFS (", "log mount/recovery failed: error -5"}},
	{BadJournal, []string{"XFS (", "log mount", "failed"}},
	{BadJournal, []string{"XFS (", "log check failed"}},
	{BadJournal, []string{"XFS (", "log has mismatched uuid"}},
	{IOError, []string{"XFS (", "metadata I/O error"}},
	{IOError, []string{"XFS (", "log I/O error"}},
	{IOError, []string{"XFS (", "writeback error"}},
	{Recovered, []string{"XFS (", "Ending recovery"}},
	{Mounted, []string{"XFS (", "Ending clean mount"}},
	{Unmounted, []string{"XFS (", "Unmounting Filesystem"}},
	// fs/btrfs
	{UnsupportedFeature, []string{"BTRFS", "unsupported"}},
	{UnsupportedFeature, []string{"BTRFS", "because of unknown ", "features"}},
	{UnsupportedFeature, []string{"BTRFS", "sectorsize", "not yet supported for page size"}},
	{XFSDuplicateUUID, []string{"BTRFS", "duplicate device"}},
	{RemountedReadOnly, []string{"BTRFS", "forced readonly"}},
	{BtrfsError, []string{"BTRFS error"}},
	{BtrfsError, []string{"BTRFS critical"}},
	{BtrfsError, []string{"BTRFS: error"}},
	// fs/super.c, fs/namespace.c
	{CannotOpen, []string{"Can't open blockdev"}},
	{CannotOpen, []string{"Can't lookup blockdev"}},
	{WouldChangeRO, []string{"Can't mount, would change RO state"}},
	// block/blk-core.c, drivers/scsi
	{MediumError, []string{"critical medium error"}},
	{MediumError, []string{"Sense Key : Medium Error"}},
	{MediumError, []string{"Add. Sense: Unrecovered read error"}},
	{OfflineDevice, []string{"rejecting I/O to offline device"}},
	{OfflineDevice, []string{"rejecting I/O to dead device"}},
	{OfflineDevice, []string{"Device offlined"}},
	{OfflineDevice, []string{"device offline error, dev "}},
	{BeyondEnd, []string{"attempt to access beyond end of device"}},
	{BeyondEnd, []string{": rw=", ", want=", ", limit="}}, // its second line, in a record of its own before 5.17
	// A request that the target need not know: the filesystem goes on without it.
	{OptionalRefused, []string{"error, dev ", "(DISCARD)"}},
	{OptionalRefused, []string{"error, dev ", "(WRITE_ZEROES)"}},
	{OptionalRefused, []string{"error, dev ", "(WRITE_SAME)"}},
	{OptionalRefused, []string{"error, dev ", "(SECURE_ERASE)"}},
	{IOError, []string{"I/O error, dev "}},
	{IOError, []string{"critical ", " error, dev "}},
	{IOError, []string{"timeout error, dev "}},
	{IOError, []string{"Buffer I/O error on dev"}},
	{IOError, []string{"lost async page write"}},
	{IOError, []string{"writeback error on inode"}},
	// The target answered: its sense line and the block layer's line say what it refused.
	{SCSIResult, []string{"FAILED Result: hostbyte=DID_OK"}},
	{IOError, []string{"FAILED Result: hostbyte="}},
	{IOError, []string{"Synchronize Cache(", "failed"}},
	{DeviceReset, []string{"Power-on or device reset occurred"}},
	{LUNChanged, []string{"LUN assignments on this target have changed"}},
	{CapacityChange, []string{"detected capacity change from"}},
	{CapacityChange, []string{"Capacity data has changed"}},
	{SCSIAttached, []string{"Attached SCSI disk"}},
	{SCSIDetached, []string{"Synchronizing SCSI cache"}},
	{SCSIDiscovered, []string{"scsi ", ": Direct-Access "}},
	{PathFailed, []string{"multipath", "Failing path"}},
	{PathReinstated, []string{"multipath", "Reinstating path"}},
	{DMTargetError, []string{"device-mapper: table:"}},
	{DMTargetError, []string{"device-mapper: ioctl: error adding target"}},
	{ZpoolSuspended, []string{"Pool '", "has been suspended"}},                // module/zfs/zio.c: zio_suspend
	{ThinPoolMode, []string{"device-mapper: thin: ", ": switching pool to "}}, // drivers/md/dm-thin.c
	{DeviceBusy, []string{"Device in use; refusing to close"}},
	// drivers/scsi/scsi_transport_iscsi.c, libiscsi.c
	{ISCSIConnError, []string{"connection", "detected conn error"}},
	{ISCSIConnError, []string{"connection", "ping timeout of"}},
	{ISCSIRecoveryEnd, []string{"session recovery timed out after"}},
	// drivers/scsi/scsi_transport_fc.c
	{FCPortLost, []string{"rport-", "blocked FC remote port time out"}},
	{ISCSIRecovered, []string{"connection", "is operational after recovery"}},
	// drivers/nvme/host
	{NVMeRemoved, []string{"nvme", "Removing ctrl"}},
	{NVMeRemoved, []string{"nvme", "Removing controller"}},
	{NVMeReconnect, []string{"nvme", "Reconnecting in"}},
	{NVMeReconnect, []string{"nvme", "Successfully reconnected"}},
	{NVMeError, []string{"nvme", "ailed to connect socket"}},
	{NVMeError, []string{"nvme", "keep-alive failed"}},
	{NVMeError, []string{"nvme", "failed nvme_keep_alive"}},
	{NVMeError, []string{"nvme", "controller is down"}},
	{NVMeError, []string{"nvme", "Connect ", "failed"}},
	{NVMeError, []string{"nvme", "I/O ", "timeout"}},
	{NVMeError, []string{"nvme", "I/O tag ", "timeout"}},
	{NVMeError, []string{"nvme", " failed ", "-104"}},
	{NVMeError, []string{"nvme", "starting error recovery"}},
	// drivers/block/drbd
	{DRBDDisconnected, []string{"drbd ", "NetworkFailure"}},
	{DRBDDisconnected, []string{"drbd ", "PingAck did not arrive"}},
	{DRBDDisconnected, []string{"drbd ", "Connected -> "}},
	// fs/nfs, net/sunrpc/clnt.c, fs/lockd, fs/smb
	{NFSNotResponding, []string{"server ", " not responding"}},
	{NFSOK, []string{"server ", " OK"}},
	{NFSStateError, []string{"NFS: state manager", "failed"}},
	{NFSStateError, []string{"NFS: ", "reclaim failed"}},
	{NFSStateError, []string{"NFS: ", "recovery failed"}},
	{CIFSError, []string{"CIFS: ", "has not responded"}},
	{CIFSError, []string{"CIFS: ", "rror"}},
	// drivers/block/rbd.c, net/ceph, fs/ceph
	{RBDFeature, []string{"rbd: ", "unsupported features"}},
	{RBDLock, []string{"rbd: ", "breaking header lock"}},
	{RBDLock, []string{"rbd: ", "to acquire", "lock"}},
	{RBDLock, []string{"rbd: ", "failed to acquire lock"}},
	{RBDLock, []string{"rbd: ", "blocklist"}},
	{RBDLock, []string{"rbd: ", "blacklist"}},
	{RBDLock, []string{"rbd: ", "lock owner"}},
	{RBDLock, []string{"rbd: ", "failed to unlock"}},
	{RBDMapped, []string{"rbd: rbd", "capacity "}},
	{IOError, []string{"rbd: rbd", "result -"}},
	{CephAuth, []string{"libceph: auth method", "error"}},
	{CephBlocklisted, []string{"ceph", "blocklisted"}},
	{CephBlocklisted, []string{"ceph", "blacklisted"}},
	{CephSessionLost, []string{"ceph: mds", "rejected session"}},
	{CephSessionLost, []string{"ceph: mds", "hung"}},
	{CephSessionLost, []string{"libceph: ", "session lost"}},
	{CephSessionLost, []string{"libceph: ", "socket closed"}},
	{CephSessionLost, []string{"libceph: ", "socket error"}},
	{CephSessionLost, []string{"libceph: ", "connect error"}},
	{CephSession, []string{"libceph: ", "session established"}},
	// kernel/hung_task.c, mm/oom_kill.c, security
	{BlockedTask, []string{"INFO: task ", " blocked for more than "}},
	{BlockedTask, []string{"INFO: task ", " blocked in I/O wait for more than "}},
	{OOM, []string{"Out of memory: "}},
	{OOM, []string{"Memory cgroup out of memory"}},
	{OOM, []string{"oom-kill:"}},
	{OOM, []string{" invoked oom-killer"}},
	{ForkRejected, []string{"fork rejected by pids controller"}},
	{AppArmorDenied, []string{`apparmor="DENIED"`}},
	{SELinuxDenied, []string{"avc:", "denied"}},
	{Boot, []string{"Linux version "}},
}

func (f form) in(text string) bool {
	for _, p := range f.parts {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return true
}

// disk matches the kernel names of disks and partitions in free text. A dash and
// number after the name is a journal (sda-8 of jbd2), not a part of it.
var disk = pattern.MustCompile(`\b(?:(?:sd|vd|xvd|hd|dasd)[a-z]{1,4}[0-9]{0,3}|dm-[0-9]+|nvme[0-9]+(?:c[0-9]+)?(?:n[0-9]+(?:p[0-9]+)?)?|(?:rbd|nbd|drbd|mmcblk)[0-9]+(?:p[0-9]+)?|(?:loop|md|zd|pmem|bcache|ublkb)[0-9]+(?:p[0-9]+)?|session[0-9]+|connection[0-9]+:[0-9]+)\b`)

// hctl matches a SCSI address where the mid layer prints one.
var hctl = pattern.MustCompile(`^(?:sd|scsi|ses|sr) ([0-9]+:[0-9]+:[0-9]+:[0-9]+):`)

// path matches the device number that dm-multipath gives a path.
var path = pattern.MustCompile(`(?:Failing|Reinstating) path ([0-9]+:[0-9]+)`)

// pool matches the device number that dm-thin gives a pool.
var pool = pattern.MustCompile(`device-mapper: thin: ([0-9]+:[0-9]+): `)

var server = pattern.MustCompile(`server (\S+) (?:not responding|OK)`)

// spoken matches the device that a filesystem or the block layer names, whatever its driver calls it: scinia of
// PowerFlex, pxd/pxd1 of Portworx.
var spoken = pattern.MustCompile(`(?:XFS|EXT[2-4]-fs) \(([^()\s]+)\)|\(device ([^()\s:]+)|\bdev ([^,\s]+), `)

// plain are words that look like a disk's name and are none, as in "sd 2:0:0:1"
// tag text or "hda" of the ALSA driver.
var plain = []string{"hda", "sdev", "hdr", "sdio"}

func classify(k *probes.KernelLine) {
	for _, f := range forms {
		if f.in(k.Text) {
			k.Kind = f.kind
			break
		}
	}
	switch k.Kind {
	case NFSNotResponding, NFSOK:
		m := server.FindStringSubmatch(k.Text)
		if m == nil || !nfsWords(k.Text) {
			k.Kind = ""
			break
		}
		k.Server = m[1]
	case AppArmorDenied, SELinuxDenied:
		return // their names are of files, not of devices
	}
	k.Names = names(k.Text)
}

func nfsWords(text string) bool {
	return strings.Contains(text, "nfs: ") || strings.Contains(text, "lockd: ") || strings.Contains(text, "NFS: ")
}

func names(text string) []string {
	var out []string
	add := func(n string) {
		if !slices.Contains(plain, n) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if m := hctl.FindStringSubmatch(text); m != nil {
		add(m[1])
	}
	for _, number := range []*pattern.Pattern{path, pool} {
		if m := number.FindStringSubmatch(text); m != nil {
			add(m[1])
		}
	}
	for _, n := range disk.FindAllString(text, -1) {
		add(n)
	}
	for _, m := range spoken.FindAllStringSubmatch(text, -1) {
		add(m[1] + m[2] + m[3])
	}
	return out
}

// Known tells whether a text is of a kind that rules know, or names a device.
func Known(text string) bool {
	k := probes.KernelLine{Text: unescape(text)}
	classify(&k)
	return k.Kind != "" || len(k.Names) > 0
}
