package message

import "regexp"

// The meanings. Each is what a text says, never what is the matter.
const (
	AlreadyMountedBusy     Kind = "already-mounted-busy"     // mount(2) EBUSY
	InUseBySystem          Kind = "in-use-by-system"         // mke2fs: exclusive open refused
	WillNotMakeFSMounted   Kind = "will-not-make-fs-mounted" // mke2fs: in this namespace's mount table or swap
	WrongFSType            Kind = "wrong-fs-type"            // mount(2) EINVAL
	CantReadSuperblock     Kind = "cant-read-superblock"     // mount(2) EIO
	SpecialDeviceMissing   Kind = "special-device-missing"   // mount(2) ENOENT
	UnknownFilesystem      Kind = "unknown-filesystem"       // mount(2) ENODEV
	WriteProtected         Kind = "write-protected"
	UnformattedReadOnly    Kind = "unformatted-read-only"
	ReadOnlyFilesystem     Kind = "read-only-filesystem"
	DriverNotRegistered    Kind = "driver-not-registered"
	CSINodeLacksDriver     Kind = "csinode-lacks-driver"
	NoRelationship         Kind = "no-relationship" // kube-apiserver's node authorizer
	MultiAttachExclusive   Kind = "multi-attach-exclusive"
	MultiAttachPods        Kind = "multi-attach-pods"
	WaitingExternalAttach  Kind = "waiting-external-attacher"
	AttachmentBeingDeleted Kind = "attachment-being-deleted"
	NotAttachedYet         Kind = "not-attached-yet"
	NotAttachedPerStatus   Kind = "not-attached-per-status"
	NotReadyForWorkloads   Kind = "not-ready-for-workloads"
	FailedToAttach         Kind = "failed-to-attach"
	FailedToDetach         Kind = "failed-to-detach"
	StillInUsePerStatus    Kind = "still-in-use-per-status"
	TargetBusy             Kind = "target-busy"
	StillReferenced        Kind = "still-referenced"
	DeviceStillInUse       Kind = "device-still-in-use"
	RBDBusy                Kind = "rbd-busy"
	RBDInUse               Kind = "rbd-in-use"
	RBDMapFailed           Kind = "rbd-map-failed"
	DeviceBusy             Kind = "device-busy" // EBUSY of anything else
	InputOutputError       Kind = "input-output-error"
	StaleHandle            Kind = "stale-handle"
	NotConnected           Kind = "not-connected"
	HostDown               Kind = "host-down"
	NFSTimeout             Kind = "nfs-timeout"
	NFSRefused             Kind = "nfs-refused"
	NFSDenied              Kind = "nfs-denied"
	NFSNoRoute             Kind = "nfs-no-route"
	NFSNoSuchExport        Kind = "nfs-no-such-export"
	NFSHelperMissing       Kind = "nfs-helper-missing"
	NFSResolve             Kind = "nfs-resolve"
	NFSProtocol            Kind = "nfs-protocol"
	NFSError               Kind = "nfs-error" // any text of mount.nfs
	Deadline               Kind = "deadline"
	AbortedPending         Kind = "aborted-pending"
	MountTimeout           Kind = "mount-timeout" // kubelet's summary after 2m3s
	ProcessingFailed       Kind = "processing-failed"
	ISCSIExit              Kind = "iscsi-exit"
	NoSpace                Kind = "no-space"
	ShareNotAvailable      Kind = "share-not-available"
	NoPendingWorkloads     Kind = "no-pending-workloads"
	NotSharedMount         Kind = "not-shared-mount"
	CryptsetupInUse        Kind = "cryptsetup-in-use"
	CryptsetupError        Kind = "cryptsetup-error"
	LuksFormatFailed       Kind = "luks-format-failed"
	MpathMember            Kind = "mpath-member"
	CannotOpenBlockdev     Kind = "cannot-open-blockdev"
	StagingInvalid         Kind = "staging-invalid"
	FsckUncorrected        Kind = "fsck-uncorrected"
	FsckMounted            Kind = "fsck-mounted"
	FsckUnsupported        Kind = "fsck-unsupported"
	FormatFailed           Kind = "format-failed"
	ExistingFilesystem     Kind = "existing-filesystem"
	MountsFilesystem       Kind = "contains-mounted-filesystem"
	FormatFileMissing      Kind = "format-file-missing"
	PermissionDenied       Kind = "permission-denied"
	OperationNotPermitted  Kind = "operation-not-permitted"
	NotFound               Kind = "not-found"
	NoSuchFile             Kind = "no-such-file"
	RootfsMount            Kind = "rootfs-mount" // a runtime could not mount into a container
	SubPathFailed          Kind = "subpath-failed"
	SandboxFailed          Kind = "sandbox-failed"
	SecretNotFound         Kind = "secret-not-found"
	ConfigMapNotFound      Kind = "configmap-not-found"
	ClaimNotFound          Kind = "claim-not-found"
	VolumeModeMismatch     Kind = "volume-mode-mismatch"
	NoLoopDevice           Kind = "no-loop-device"
	UnboundClaims          Kind = "unbound-claims"
	NodeAffinityConflict   Kind = "node-affinity-conflict"
	ClaimInUse             Kind = "claim-in-use" // ReadWriteOncePod
	WaitFirstConsumer      Kind = "wait-first-consumer"
	WaitExternalProvision  Kind = "wait-external-provisioner"
	ProvisionFailed        Kind = "provision-failed"
	ClassNotFound          Kind = "class-not-found"
	WebhookFailed          Kind = "webhook-failed"
	InvalidFrontend        Kind = "invalid-frontend"
	NoFrontend             Kind = "no-block-frontend"
	NoScheduledReplicas    Kind = "no-scheduled-replicas"
	NodeNotReady           Kind = "node-not-ready"
	ResizeFailed           Kind = "resize-failed"
	OwnershipSlow          Kind = "ownership-slow"
	SocketRefused          Kind = "socket-unreachable" // no answer on a CSI socket
	NoTool                 Kind = "no-such-executable"
	OrphanedPod            Kind = "orphaned-pod"
	SELinuxDenied          Kind = "selinux-denied"
	AppArmorDenied         Kind = "apparmor-denied"
	MaxVolumes             Kind = "max-volumes"
	NeedsFsck              Kind = "needs-fsck" // "UNEXPECTED INCONSISTENCY", "Structure needs cleaning"
	DuplicateUUID          Kind = "duplicate-uuid"
	CorruptMount           Kind = "corrupt-mount"
	ReadinessWaiting       Kind = "waiting-for-condition"
)

// ISCSIExitKind is the meaning "iscsiadm ended with this status".
func ISCSIExitKind(status int) Kind { return Kind("iscsi-exit-" + itoa(status)) }

type sentence struct {
	kind Kind
	re   *regexp.Regexp
}

func says(kind Kind, pattern string) sentence {
	return sentence{kind, regexp.MustCompile(`(?is)` + pattern)}
}

// mountSentences are what mount(8), umount(8), cryptsetup(8) and the mkfs and fsck
// programs say, and the drivers that quote them.
var mountSentences = []sentence{
	says(AlreadyMountedBusy, `already mounted or mount point busy|already mounted on /| is already mounted at `),
	says(InUseBySystem, `is apparently in use by the system`),
	says(WillNotMakeFSMounted, `is mounted; will not make a`),
	says(WrongFSType, `wrong fs type, bad option, bad superblock`),
	says(CantReadSuperblock, `can'?t read superblock`),
	says(SpecialDeviceMissing, `special device \S+ does not exist`),
	says(UnknownFilesystem, `unknown filesystem type`),
	says(WriteProtected, `write-protected|cannot mount \S+ read-only`),
	says(UnformattedReadOnly, `cannot mount unformatted disk .* read-only mode`),
	says(ReadOnlyFilesystem, `read-only file ?system`),
	says(TargetBusy, `target is busy|umount: \S+: device is busy`),
	says(StillReferenced, `still mounted by other references|device is in use when it was no longer expected`),
	says(DeviceStillInUse, `Device \S+ is still in use`),
	says(DeviceBusy, `device or resource busy|resource busy`),
	says(InputOutputError, `input/output error`),
	says(StaleHandle, `stale (nfs )?file handle`),
	says(NotConnected, `transport endpoint is not connected`),
	says(HostDown, `host is down`),
	says(CorruptMount, `corrupted mount`),
	says(CryptsetupInUse, `Cannot use device \S+ which is in use`),
	says(CryptsetupError, `failed to (open|close|encrypt|format) .*LUKS|cryptsetup`),
	says(LuksFormatFailed, `failed to encrypt device|luksFormat`),
	says(MpathMember, `mpath_member`),
	says(CannotOpenBlockdev, `Can'?t open blockdev|cannot open \S+: device or resource busy`),
	says(FsckUncorrected, `'fsck' found errors on device .* could not correct`),
	says(FsckMounted, `fsck.*(is mounted|is in use)`),
	says(FsckUnsupported, `fsck.*unsupported feature|has unsupported feature`),
	says(FormatFailed, `format of disk "[^"]+" failed|mkfs\.\w+.*(fail|exit status)|failed to format`),
	says(ExistingFilesystem, `appears to contain an existing filesystem`),
	says(MountsFilesystem, `contains a mounted filesystem`),
	says(FormatFileMissing, `does not exist and no size was specified`),
	says(NeedsFsck, `UNEXPECTED INCONSISTENCY|structure needs cleaning|run fsck manually`),
	says(DuplicateUUID, `duplicate UUID`),
	says(NoSpace, `no space left on device`),
	says(PermissionDenied, `permission denied|access denied`),
	says(OperationNotPermitted, `operation not permitted`),
	says(NoSuchFile, `no such file or directory`),
	says(NoTool, `executable file not found|command not found|exit status 127`),
	says(NoLoopDevice, `makeLoopDevice failed|could not find any free loop|failed to (set ?up|find) (a )?loop`),
	says(ResizeFailed, `resize of device \S+ failed|(node|volume)expandvolume.*failed|resizing failed`),
}

// networkSentences are what NFS, iSCSI and RBD tools say.
var networkSentences = []sentence{
	says(NFSError, `mount\.nfs|type nfs4?\b|nfs: `),
	says(NFSTimeout, `mount\.nfs\S*: .*(timed out|time out)|nfs.*connection timed out`),
	says(NFSRefused, `mount\.nfs\S*: .*refused`),
	says(NFSDenied, `mount\.nfs\S*: .*(access denied|permission denied|operation not permitted)`),
	says(NFSNoRoute, `mount\.nfs\S*: .*(no route to host|network is unreachable)`),
	says(NFSNoSuchExport, `mount\.nfs\S*: .*(no such file or directory|mounting \S+ failed, reason given by server)`),
	says(NFSHelperMissing, `you might need a /sbin/mount\.<?(type|nfs)|bad option; for several filesystems`),
	says(NFSResolve, `mount\.nfs\S*: .*(failed to resolve|name or service not known|temporary failure in name)`),
	says(NFSProtocol, `mount\.nfs\S*: .*(protocol not supported|requested nfs version or transport|an incorrect mount option|rpc\.statd is not running)`),
	says(RBDBusy, `rbd: (sysfs write|unmap) failed|unmap.*\(16\) device or resource busy`),
	says(RBDInUse, `is still being used`),
	says(RBDMapFailed, `rbd: map failed|failed to map rbd|map of image .* failed`),
	says(ISCSIExit, `iscsiadm`),
	says(SocketRefused, `csi.*\.sock: connect: |dial unix \S+|connection error: desc = "?transport`),
}

// kubernetesSentences are what the components of Kubernetes and Longhorn say.
var kubernetesSentences = []sentence{
	says(DriverNotRegistered, `driver name \S+ not found in the list of registered CSI drivers`),
	says(CSINodeLacksDriver, `CSINode \S+ does not contain driver`),
	says(NoRelationship, `no relationship found between node`),
	says(MultiAttachExclusive, `already exclusively attached to one node`),
	says(MultiAttachPods, `already used by pod\(?s?\)?|Multi-Attach.*in different namespaces`),
	says(WaitingExternalAttach, `waiting for external-attacher`),
	says(AttachmentBeingDeleted, `volume attachment is being deleted`),
	says(NotAttachedYet, `hasn'?t been attached yet`),
	says(NotAttachedPerStatus, `not attached according to node status`),
	says(NotReadyForWorkloads, `not ready for workloads`),
	says(FailedToAttach, `failed to attach to node|failed to attach volume`),
	says(FailedToDetach, `failed to detach volume|DetachVolume\.Detach failed`),
	says(StillInUsePerStatus, `still in use by node, according to node status`),
	says(Deadline, `DeadlineExceeded|context deadline exceeded`),
	says(AbortedPending, `operation with the given volume( id)? .*already exists|code = Aborted`),
	says(MountTimeout, `unable to (attach or )?mount volumes`),
	says(ReadinessWaiting, `timed out waiting for the condition`),
	says(ProcessingFailed, `failed to process volumes=\[[^\]]`),
	says(ShareNotAvailable, `share not yet available|volume share to be available`),
	says(NoPendingWorkloads, `no pending workload pods for volume`),
	says(NotSharedMount, `not a shared( or slave)? mount`),
	says(StagingInvalid, `staging (target )?path \S+ is no longer valid`),
	says(RootfsMount, `error mounting "[^"]+" to rootfs|error mounting .* to rootfs`),
	says(SubPathFailed, `failed to (prepare|create) subPath`),
	says(SandboxFailed, `failed to create pod sandbox|FailedCreatePodSandBox`),
	says(SecretNotFound, `secrets? "[^"]+" not found`),
	says(ConfigMapNotFound, `configmaps? "[^"]+" not found`),
	says(ClaimNotFound, `persistentvolumeclaim "[^"]+" not found`),
	says(VolumeModeMismatch, `has volumeMode (Block|Filesystem), but is specified in`),
	says(UnboundClaims, `unbound (immediate )?PersistentVolumeClaims`),
	says(NodeAffinityConflict, `volume node affinity conflict|NodeAffinity check failed`),
	says(ClaimInUse, `ReadWriteOncePod|already in use by another pod|volume uses the ReadWriteOncePod`),
	says(WaitFirstConsumer, `waiting for first consumer to be created before binding`),
	says(WaitExternalProvision, `waiting for a volume to be created(,)? either by`),
	says(ProvisionFailed, `failed to provision volume`),
	says(ClassNotFound, `storageclass\S* "[^"]+" not found`),
	says(WebhookFailed, `failed calling webhook|conversion webhook`),
	says(InvalidFrontend, `invalid frontend type`),
	says(NoFrontend, `no block device frontend`),
	says(NoScheduledReplicas, `has no scheduled replicas|un-?schedulable replicas`),
	says(NodeNotReady, `node \S+ is not ready`),
	says(OwnershipSlow, `setting volume ownership`),
	says(OrphanedPod, `orphaned pod "`),
	says(SELinuxDenied, `avc:\s+denied`),
	says(AppArmorDenied, `apparmor="DENIED"`),
	says(MaxVolumes, `max volume count|maximum number of attached`),
	says(NotFound, `code = NotFound`),
}
