// Package causes lists every rule of the program, by layer and name. A rule that
// is not in this list does not exist.
package causes

import (
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/attach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/device"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/mount"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/risk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/noise"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
)

// rules is the explicit list; one line per rule, sorted by layer and name.
var rules = []*diagnosis.Rule{
	// claim
	claim.AttachLimitExceeded,
	claim.ClaimInUseRWOP,
	claim.ClaimKeptByFinishedPod,
	claim.ClaimLostVolume,
	claim.ClaimVolumeMismatch,
	claim.ClaimrefStale,
	claim.ConsumerUnschedulable,
	claim.DeletionBlockedByFinalizer,
	claim.ExpansionRefusedByBackend,
	claim.HelperPodFailed,
	claim.ProvisionerNotResponding,
	claim.ProvisioningFailed,
	claim.ResizerNotWorking,
	claim.StorageclassMissing,
	claim.StorageclassParameterWrong,
	claim.TopologyConflict,
	claim.VolumeModeMismatch,
	claim.VolumeSourceMissing,
	claim.VolumehandleDuplicate,
	claim.WFFCBypassedByNodename,

	// attach
	attach.AttachStateOutOfStep,
	attach.AttachedInAPIMissingOnNode,
	attach.AttacherNotWorking,
	attach.AttachmentStaleInBackend,
	attach.BackendNodeUnknown,
	attach.BackendThrottled,
	attach.ControllerManagerSilent,
	attach.CSICredentialsWrong,
	attach.CSIDriverObjectWrong,
	attach.CSIPluginHostPathMissing,
	attach.CSIPluginNotOnNode,
	attach.CSIPluginNotRegistered,
	attach.DeviceLinkMissing,
	attach.DeviceRenumbered,
	attach.HostpathTypeMismatch,
	attach.DriverConfigurationWrong,
	attach.DriverNeverServesNode,
	attach.DriverNotInstalled,
	attach.KubeletRootDirWrong,
	attach.NodeDown,
	attach.NodeKubeletDownWorkloadAlive,
	attach.NodeRemoved,
	attach.RWORollingUpdate,
	attach.RWOSharedByWorkloads,
	attach.VolumeAttachmentDetachLoop,
	attach.VolumeAttachmentStale,
	attach.VolumeAttachmentVolumeGone,
	attach.VolumeMappedOutsideCluster,

	// longhorn
	longhorn.AttachmentTicketLeftover,
	longhorn.BackingImageUnavailable,
	longhorn.ControlPlaneDown,
	longhorn.DiskFull,
	longhorn.DiskUnusable,
	longhorn.EngineImageNotReady,
	longhorn.EngineOrphaned,
	longhorn.EngineRecordStale,
	longhorn.ExpansionIncomplete,
	longhorn.IPFamilyUnsupported,
	longhorn.InstanceManagerRestarted,
	longhorn.InstanceManagerStuck,
	longhorn.MigrationInconsistent,
	longhorn.RemountPending,
	longhorn.ReplicaInconsistent,
	longhorn.ReplicaNetworkUnstable,
	longhorn.ReplicaUnschedulable,
	longhorn.RestorePending,
	longhorn.RestoreStalled,
	longhorn.ShareManagerDown,
	longhorn.ShareManagerMisplaced,
	longhorn.EngineDataPathBroken,
	longhorn.V2EngineStuck,
	longhorn.V2MemoryShort,
	longhorn.VolumeDrivenTwice,
	longhorn.VolumeFaulted,
	longhorn.VolumeStatusLeftover,
	longhorn.DrainBlocked,
	longhorn.EngineUpgradeStuck,
	longhorn.ReplicaNotInEngine,

	// mount
	mount.BlockVolumeStagingLost,
	mount.BlockVolumeUnmapStuck,
	mount.KubeletInContainer,
	mount.LocalDiskNotMounted,
	mount.MountForbidsPrograms,
	mount.MountLazilyDetached,
	mount.MountMissingUnderPod,
	mount.MountOfDeadDevice,
	mount.MountPinnedInNamespace,
	mount.MountPropagationOff,
	mount.PodDirectoryOrphaned,
	mount.SecurityModuleDenies,
	mount.SubpathBindStale,
	mount.SubpathTypeMismatch,

	// device
	device.CryptMapperStale,
	device.DeviceClaimedByUnknown,
	device.DeviceHeldByProcess,
	device.DeviceIsNotTheVolume,
	device.DeviceLUNReused,
	device.DeviceMappedOnOtherNode,
	device.DRBDStateBlocks,
	device.LVMClaimsDevice,
	device.LocalPoolInactive,
	device.MDClaimsDevice,
	device.MultipathClaimsDevice,
	device.MultipathMapOrphaned,
	device.MultipathOffForSAN,
	device.RBDFeatureUnsupported,
	device.RBDLockOrWatcherStale,

	// transport
	transport.CephBackendUnreachable,
	transport.CephClientFenced,
	transport.FUSEDaemonDead,
	transport.ISCSIDNotRunning,
	transport.ISCSIPortalUnreachable,
	transport.ISCSIInitiatorNameDuplicate,
	transport.ISCSIInitiatorNameInvalid,
	transport.ISCSIInterfaceMisbound,
	transport.ISCSILoginRejected,
	transport.ISCSIModuleMissing,
	transport.ISCSINodeRecordInvalid,
	transport.ISCSISessionLost,
	transport.ISCSIToolsMissing,
	transport.KernelModuleMissing,
	transport.NFSAccessDenied,
	transport.NFSClientIDCollision,
	transport.NFSClientMissing,
	transport.NFSHandleStale,
	transport.NFSIdmapMismatch,
	transport.NFSKernelIncompatible,
	transport.NFSServerNameUnresolvable,
	transport.NFSServerUnreachable,
	transport.NFSStateHang,
	transport.NFSStatdMissing,
	transport.NFSVersionUnsupported,
	transport.NetworkHostToPodBlocked,
	transport.SELinuxDeniesISCSI,
	transport.SMBAccessDenied,
	transport.SMBMountRefused,
	transport.SMBServerUnreachable,

	// filesystem
	filesystem.CheckedWhileMounted,
	filesystem.EncryptionKeyWrong,
	filesystem.ExpansionFailedOnNode,
	filesystem.EncryptionParametersRefused,
	filesystem.EncryptionToolsMissing,
	filesystem.FSGroupChownSlow,
	filesystem.FeatureUnsupported,
	filesystem.Full,
	filesystem.MkfsRisk,
	filesystem.NeedsFsck,
	filesystem.NodeWatchLimitReached,
	filesystem.ReadonlyAfterError,
	filesystem.SELinuxLabelConflict,
	filesystem.SELinuxRelabelSlow,
	filesystem.TypeMismatch,
	filesystem.XFSLogNotReplayed,
	filesystem.XFSUUIDDuplicate,

	// risk
	risk.ForceDetachImminent,
	risk.HostRootMountedPrivately,
	risk.HostnameShared,
	risk.MultipathMayClaim,
	risk.VolumesBehindHardNFS,
}

// Catalog returns all rules, symptoms and noise. It panics when the list is not
// consistent, which the tests of this package find before anybody else does.
var Catalog = sync.OnceValue(func() *diagnosis.Catalog {
	c, err := diagnosis.NewCatalog(rules, symptom.Rules, noise.Rules)
	if err != nil {
		panic(err) // a mistake in the list above, not in anybody's input
	}
	return c
})
