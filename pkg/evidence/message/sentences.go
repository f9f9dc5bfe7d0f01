package message

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// grammar is every sentence that is known, by who says it.
var grammar = [][]sentence{mountSentences, networkSentences, kubernetesSentences, sourceSentences, schedulerSentences, backendSentences}

// mountSentences are what mount(8), umount(8), cryptsetup(8) and the mkfs and fsck
// programs say, and the drivers that quote them.
var mountSentences = []sentence{
	says(AlreadyMountedBusy, `already mounted or mount point busy| is already mounted or \S+ busy|already mounted on /| is already mounted at |is busy or already mounted|mounting \S+ on \S+ failed: (device or )?resource busy`),
	says(InUseBySystem, `is apparently in use by the system`),
	says(WillNotMakeFSMounted, `is mounted; will not make a`),
	says(WrongFSType, `wrong fs type, bad option, bad superblock`),
	says(CantReadSuperblock, `can'?t read superblock`),
	says(SpecialDeviceMissing, `special device \S+ does not exist|\S+: can.t lookup blockdev`), // the second by fsconfig(2), as of util-linux 2.39
	says(UnknownFilesystem, `unknown filesystem type`),
	says(WriteProtected, `write-protected|cannot mount \S+ read-only`),
	says(UnformattedReadOnly, `cannot mount unformatted disk .* read-only mode`),
	says(ReadOnlyFilesystem, `read-only file ?system`),
	says(TargetBusy, `target is busy|umount(\.\w+)?: \S+: device is busy|can't u(n)?mount \S+: (device or )?resource busy`),
	says(UnmountFailed, `failed to (lazy )?unmount|failed to clean ?up (volume \S+ mount point|global mount)|unmount failed: exit status`),
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
	says(DeviceShrunk, `physical size of the device is \d+ blocks|block count \d+ exceeds size of device|device total_bytes should be at most \d+ but found \d+`),
	says(FsckMounted, `fsck.*(is mounted|is in use)|(is mounted|is in use)\.\s*e2fsck: cannot continue`),
	says(FsckUnsupported, `fsck.*unsupported feature|has unsupported feature|Found unsupported filesystem features|more recent xfs_repair is recommended`),
	says(FormatFailed, `format of disk "[^"]+" failed|mkfs\.\w+.*(fail|exit status)|mkfs\.\w+: cannot open|failed to format`),
	says(ExistingFilesystem, `appears to contain an existing filesystem`),
	says(MountsFilesystem, `contains a mounted filesystem`),
	says(FormatFileMissing, `does not exist and no size was specified`),
	says(NeedsFsck, `UNEXPECTED INCONSISTENCY|structure needs cleaning|run fsck manually`),
	says(DuplicateUUID, `duplicate UUID`),
	says(NoSpace, `no space left on device`),
	says(QuotaSpent, `disk quota exceeded`),
	says(PermissionDenied, `permission denied|access denied`),
	says(OperationNotPermitted, `operation not permitted`),
	says(NoSuchFile, `no such file or directory`),
	says(NoTool, `executable file not found|command not found|exit status 127`),
	says(NoLoopDevice, `makeLoopDevice failed|could not find any free loop|failed to (set ?up|find) (a )?loop`),
	says(EncryptionFormatMistaken, `unsupported disk encryption format`),
	says(ResizeFailed, `resize of device \S+ failed|(node|volume)expandvolume.*failed|resizing failed|failed while expanding volume|failed to expand the volume|failed to resize mounted filesystem`),
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
	says(NFSResolve, `mount\.nfs\S*: .*(failed to resolve|name or service not known|temporary failure in name)|failed to resolve "\S+" - check that your file system`),
	says(NFSProtocol, `mount\.nfs\S*: .*(protocol not supported|requested nfs version or transport|an incorrect mount option|rpc\.statd is not running)`),
	says(RBDBusy, `rbd: (sysfs write|unmap) failed|unmap.*\(16\) device or resource busy|rbd:? .{0,80}unmap.{0,200}exit status 16`),
	says(RBDInUse, `is still being used`),
	says(RBDMapFailed, `rbd: map failed|failed to map rbd|map of image .* failed`),
	says(ISCSIExit, `iscsiadm`),
	says(SocketRefused, `csi.*\.sock: connect: |dial unix \S+|connection error: desc = `),
}

// kubernetesSentences are what the components of Kubernetes and Longhorn say.
var kubernetesSentences = []sentence{
	says(DriverNotRegistered, `driver name \S+ not found in the list of registered CSI drivers`),
	says(CSINodeLacksDriver, `CSINode \S+ does not contain driver|csinodes?\.storage\.k8s\.io "[^"]+" not found|has no NodeID annotation`),
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
	says(AbortedPending, `operation with the given volume( id)? .*already exists|code = Aborted desc = .*(pending|progress|ongoing|not ready|not yet|already exists|is (attaching|detaching|being)|lock|busy|retry|try again)`),
	says(MountTimeout, `unable to (attach or )?mount volumes`),
	says(CacheNotSynced, `failed to sync (configmap|secret) cache: timed out|object "[^"]*"/"[^"]*" not registered`),
	says(ReadinessWaiting, `timed out waiting for the condition`),
	says(ProcessingFailed, `failed to process volumes=\[[^\]]`),
	says(ShareNotAvailable, `share not yet available|volume share to be available`),
	says(NoPendingWorkloads, `no pending workload pods for volume`),
	says(NotSharedMount, `not a shared( or slave)? mount`),
	says(StagingInvalid, `staging (target )?path \S+ is no longer valid`),
	says(RootfsMount, `error mounting "[^"]+" to rootfs|error mounting .* to rootfs|mounting \S+ to rootfs`),
	says(SubPathFailed, `failed to (prepare|create) subPath`),
	says(SandboxFailed, `failed to create pod sandbox|FailedCreatePodSandBox`),
	says(SecretNotFound, `secrets? "[^"]+" not found`),
	says(ConfigMapNotFound, `configmaps? "[^"]+" not found`),
	says(ClaimNotFound, `persistentvolumeclaim "[^"]+" not found`),
	says(VolumeModeMismatch, `has volumeMode (Block|Filesystem), but is specified in`),
	says(WaitFirstConsumer, `waiting for first consumer to be created before binding`),
	says(WaitExternalProvision, `waiting for a volume to be created(,)? either by`),
	says(ProvisionFailed, `failed to provision volume|error saving volume`), // volume_store.go of sig-storage-lib-external-provisioner
	says(ClassNotFound, `storageclass\S* "[^"]+" not found`),
	says(WebhookFailed, `failed calling webhook|conversion webhook`),
	says(NotAdmitted, `\S+ "[^"]*" is forbidden: |admission webhook "[^"]+" denied the request|failed calling webhook`), // NewForbidden of apimachinery, toStatusErr of apiserver's webhooks
	says(InvalidFrontend, `invalid frontend type`),
	says(NoFrontend, `no block device frontend`),
	says(NoScheduledReplicas, `has no scheduled replicas|un-?schedulable replicas`),
	says(NodeNotReady, `node \S+ is not ready`),
	says(OwnershipSlow, `setting volume ownership`),
	says(OrphanedPod, `orphaned pod "`),
	says(SELinuxDenied, `avc:\s+denied`),
	says(AppArmorDenied, `apparmor="DENIED"`),
	says(NotFound, `code = NotFound`),
}

// sentence is one thing that a program says.
type sentence struct {
	kind Kind
	re   *pattern.Pattern
}

// says is a sentence by its pattern, without regard to case.
func says(kind Kind, expr string) sentence {
	return sentence{kind: kind, re: pattern.MustCompile(`(?is)` + expr)}
}

// What the scheduler says beside its predicates about volumes.
const (
	FargateRefuses Kind = "fargate-refuses" // the scheduler of EKS Fargate
	NoNodeID       Kind = "no-node-id"      // the attacher finds no id of the driver for a node
)

// VolumePredicates are the meanings by which the scheduler says that a volume keeps a pod
// from a node (pkg/scheduler/framework/plugins/{volumebinding,volumezone,nodevolumelimits,
// volumerestrictions}).
var VolumePredicates = []Kind{UnboundClaims, NodeAffinityConflict, NoVolumePlaced, MaxVolumes, ClaimInUse, ClaimNotFound, FargateRefuses}

var schedulerSentences = []sentence{
	says(NodeAffinityConflict, `volume node affinity conflict|match PersistentVolume's node affinity|NodeAffinity check failed`),
	says(NoVolumePlaced, `no available volume zone|find available persistent volumes to bind|bound to non-existent|no available disk|enough free storage`),
	says(ClaimInUse, `ReadWriteOncePod|already in use by another pod|already in-use by another pod`),
	says(UnboundClaims, `unbound (immediate )?PersistentVolumeClaims`),
	says(MaxVolumes, `max volume count|maximum number of attached`),
	says(FargateRefuses, `not supported on Fargate: volumes not supported`),
	says(NoNodeID, `has no NodeID annotation`),
}

// What storage backends say of themselves through a driver.
const (
	Throttled     Kind = "throttled"      // too many calls in a time
	StillWorking  Kind = "still-working"  // the backend works on it and says so
	MachineBusy   Kind = "machine-busy"   // the machine has a task of its own, which the backend lets end first
	Pending       Kind = "pending"        // the driver's word for a call that it has not ended, and nothing else
	OtherCall     Kind = "other-call"     // something else is being done with the volume or machine
	Amount        Kind = "amount"         // a quota, a stock or a number of the account is used up
	Closed        Kind = "closed"         // the account or project is served nothing, or not this: unpaid, locked, not enabled, barred by a policy for all
	PutOff        Kind = "put-off"        // the driver itself waits before it tries again
	NodeUnknown   Kind = "node-unknown"   // no machine, host entry or initiator of that node
	VolumeUnknown Kind = "volume-unknown" // no volume or disk of that id
	OfflineOnly   Kind = "offline-only"   // enlarging a volume that is in use is not supported
	ExpandRefused Kind = "expand-refused" // external-resizer: the driver refuses to enlarge a volume
)

// backendSentences are examples of classes: codes of clouds and sentences of drivers.
var backendSentences = []sentence{
	says(Throttled, `(\b|user)rate[ _-]?limit|rate ?exceeded|retry quota exceeded|(modification|request|api|call) rate\b.{0,20}\blimit|requests per (second|minute|hour) reached|got 429 instead|RequestLimitExceeded|request limit exceeded|throttl|TooManyRequests|too many requests|StatusCode[:=] ?429|status code[: ]+429|HTTP 429|Error 429|too many pending operations|RetryAfter: ?[1-9]\d*s`),
	says(StillWorking, `expected device to be attached but was (attaching|detaching)|volume is (still )?(attaching|detaching|creating)|the (current )?status is (still )?creating\b|in (the )?(state|status) (of )?"?(attaching|detaching|creating)|\b(flatten|clone|cloning|copy|copying|restore|restoring|hydration|split|import)\b.{0,60}\bin progress|\bclone( from \S+)? is pending\b|still being (created|cloned|copied|restored|modified|optimized)|in (modification state )?"?optimizing"?( state)?\b|in a transient state|\bresourceNotReady\b`),
	says(MachineBusy, `\b(server|instance|machine|vm|droplet|linode)\b[^.:;]{0,60}\b(is (currently )?busy|is locked \(locked\)|(already )?has (a )?pending (event|action|task)\b|while it is in task_state\b)`),
	says(Pending, `code = Aborted desc = (pending|in progress)$`),
	says(OtherCall, `another operation .{0,40}in progress|is busy with another operation`),
	says(Amount, `code = ResourceExhausted\b|\bquotas?\b[^;\n]{0,60}\b(exceeded|reached|insufficient|short|limit)|\b(exceed\w*|insufficient|reach\w*|over)\b[^;\n]{0,60}\bquotas?\b|quota_?(limit|exceeded)|(exceeds|over)\w*quota|overLimit|limit[ _]?exceeded\b|\bsold out\b|\bout of (usage|stock|capacity)\b|\bno ?stock\b|\btry other\b`),
	says(Closed, `\bbilling (account|is|has|to be|enabled|disabled)|\b(has|enable|requires) billing\b|(account|enough|insufficient) ?balance|\binsufficient (credits?|funds)\b|\barrears\b|payment required|((your|this|billing|customer|owning) (account|project)|the (subscription|organi[sz]ation|cloud|tenant))\b[^.;\n]{0,60}\b(is|has been|currently) (not (been )?)?(\w+ ){0,2}(disabled|blocked|locked|suspended|restricted|closed|active|certified|verified)\b|account has not been (certified|verified)|not ?certification|PendingVerification|RiskControl|`+
		`has not been used in project|accessNotConfigured|SERVICE_DISABLED|OptInRequired|not subscribed to|not registered to use namespace|disallowed ?by ?policy|\bconstraint \S+ violated`),
	says(PutOff, `(due to|in|during) (a |the )?back-?off\b|backing off\b`),
	says(NodeUnknown, `(node|virtual ?machine|instance|host|machine|server|droplet|linode|initiators?|vm)\b:?(?:[^.:;]|[.:]\S){0,80}(wasn't found|was not found|not found|doesn't exist|does not exist|could not be found)|(could not|cannot|can't|unable to|failed to|couldn't) (find|get|locate|lookup|look up) .{0,30}(node|virtual ?machine|instance|host|machine|server|initiators?|vm)\b|InvalidInstanceID|no (host|initiator|node|instance)s? (was )?(found|registered|match)`),
	says(VolumeUnknown, `(\b|persistent)(volume|disk|snapshot)\b[^.:;\]]{0,60}(wasn't found|was not found|not found|doesn't exist|does not exist)|InvalidVolume\.NotFound|(could not|cannot|can't|unable to|failed to) (find|get|locate) (the )?(volume|disk)\b`),
	says(OfflineOnly, `cannot resize \S+ \S+ while it is attached|only supports? offline expansion|offline (volume )?expansion|currently (published|attached|in-use|in use)`),
	says(ExpandRefused, `by resizer "[^"]+" failed|only supports offline expansion`),
}

// What kubelet says about the sources of a pod's volumes.
const (
	KeyNotFound Kind = "key-not-found" // a key of a Secret or ConfigMap (pkg/volume/{secret,configmap,projected})
	NoAccount   Kind = "account-not-found"
	NotADir     Kind = "not-a-directory"
	IsADir      Kind = "is-a-directory"
)

var sourceSentences = []sentence{
	says(KeyNotFound, `references non-existent (secret|config) key`),
	says(NoAccount, `failed to fetch token: \S+ "[^"]+" not found`), // in old captures what stands behind "token:" is hidden
	says(NotADir, `not a directory|trying to mount a directory onto a file|host path exists and is the expected type`),
	says(IsADir, `is a directory`),
}
