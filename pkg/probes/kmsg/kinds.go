package kmsg

// The kinds of records. A kind says what the kernel reports and never why.
const (
	// filesystems
	Ext4Error          = "ext4-error"            // EXT4-fs error (device D): …
	Ext4Remembered     = "ext4-remembered"       // errors of the past that the superblock lists at a mount and once a day (print_daily_error_info)
	Ext4Aborted        = "ext4-aborted"          // the journal was aborted
	RemountedReadOnly  = "remounted-ro"          // "Remounting filesystem read-only" after an error
	Remounted          = "re-mounted"            // somebody asked for a remount; no fault
	Mounted            = "mounted"               // a filesystem was mounted
	Unmounted          = "unmounted"             // the last mount of a filesystem went away
	Recovered          = "recovery-complete"     // a journal was replayed: the filesystem was not unmounted before
	XFSShutdown        = "xfs-shutdown"          // XFS refuses everything until it is mounted again
	XFSCorruption      = "xfs-corruption"        // XFS found bad metadata
	XFSDuplicateUUID   = "xfs-duplicate-uuid"    // another mounted XFS has this UUID
	UnsupportedFeature = "unsupported-feature"   // the filesystem needs a newer kernel
	BadSuperblock      = "bad-superblock"        // no, or a damaged, superblock of the type asked for
	BadJournal         = "bad-journal"           // the journal cannot be loaded
	MountRefused       = "mount-refused"         // another reason of the filesystem not to mount
	BtrfsError         = "btrfs-error"           // BTRFS error or critical
	CannotOpen         = "cant-open-blockdev"    // "Can't open blockdev" or "Can't lookup blockdev"
	WouldChangeRO      = "would-change-ro-state" // the superblock lives with the other ro state
	// devices
	IOError          = "io-error"             // a request for data failed
	SCSIResult       = "scsi-result"          // the target answered a request with a status; other lines say which
	OptionalRefused  = "optional-refused"     // DISCARD, WRITE ZEROES …: the target does not know it, data is safe
	MediumError      = "medium-error"         // the target says that its data is bad
	OfflineDevice    = "offline-device"       // I/O to, or the offlining of, a device that is gone
	BeyondEnd        = "beyond-end-of-device" // the device is shorter than the filesystem, often 0
	DeviceReset      = "device-reset"         // power-on or reset: a session came back
	SCSIAttached     = "scsi-attached"        // "[sdX] Attached SCSI disk"
	SCSIDetached     = "scsi-detached"        // "[sdX] Synchronizing SCSI cache": the disk is being removed
	SCSIDiscovered   = "scsi-discovered"      // the inquiry of a new logical unit
	LUNChanged       = "lun-assignments-changed"
	CapacityChange   = "capacity-change"       // a device has another size
	PathFailed       = "multipath-path-failed" // dm-multipath failed a path
	PathReinstated   = "multipath-path-reinstated"
	DMTargetError    = "dm-target-error" // a dm table could not be loaded
	ThinPoolMode     = "thin-pool-mode"  // a thin pool writes, has no data space left, is read-only or failed
	ZpoolSuspended   = "zpool-suspended" // a pool of ZFS lost its disks: every access to it waits
	DeviceBusy       = "device-busy"     // a driver says that the device is in use
	ISCSIConnError   = "iscsi-conn-error"
	FCPortLost       = "fc-port-lost"           // the remote port of a Fibre Channel target was given up
	ISCSIRecoveryEnd = "iscsi-recovery-timeout" // the session's disks were given up
	ISCSIRecovered   = "iscsi-recovered"        // the connection is operational again
	NVMeError        = "nvme-error"             // a controller cannot be reached or fails commands
	NVMeRemoved      = "nvme-removed"           // a controller was removed
	NVMeReconnect    = "nvme-reconnect"         // reconnecting, or connected again
	DRBDDisconnected = "drbd-disconnected"
	// network filesystems and clusters
	NFSNotResponding = "nfs-not-responding" // still trying, or timed out
	NFSOK            = "nfs-ok"             // the server answers again
	NFSStateError    = "nfs-state-error"    // state manager or reclaim failed
	CIFSError        = "cifs-error"
	CephSession      = "ceph-session"      // a session was established
	CephSessionLost  = "ceph-session-lost" // lost, closed, hung or rejected
	CephAuth         = "ceph-auth-error"
	CephBlocklisted  = "ceph-blocklisted" // this client was shut out
	RBDLock          = "rbd-lock"         // header lock: breaking, acquiring, blocklisting
	RBDFeature       = "rbd-feature"      // the image needs features that the kernel lacks
	RBDMapped        = "rbd-mapped"       // "rbdN: capacity"
	// the rest of the system
	BlockedTask    = "blocked-task" // hung task detector
	OOM            = "oom"          // the kernel killed a process for memory
	ForkRejected   = "fork-rejected"
	AppArmorDenied = "apparmor-denied"
	SELinuxDenied  = "selinux-denied"
	Boot           = "boot" // "Linux version": the first record of a boot
)
