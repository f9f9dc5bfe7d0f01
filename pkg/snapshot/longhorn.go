package snapshot

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Longhorn is every longhorn.io object, decoded into structs of ours that
// tolerate v1beta1 and v1beta2, numbers as strings, and support bundles that
// write "null" for an empty string.
type Longhorn struct {
	Volumes          []*LHVolume
	Engines          []*LHEngine
	Frontends        []*LHEngineFrontend
	Replicas         []*LHReplica
	ShareManagers    []*LHShareManager
	InstanceManagers []*LHInstanceManager
	Nodes            []*LHNode
	Attachments      []*LHAttachment
	EngineImages     []*LHEngineImage
	BackingImages    []*LHBackingImage
	Settings         []*LHSetting
	Orphans          []*LHOrphan
	Backups          []*LHBackup
	Snapshots        []*LHSnapshot
	BackupTargets    []*LHBackupTarget
}

// Condition is one entry of status.conditions, list or map.
type Condition struct {
	Type, Status, Reason, Message string
	LastTransition                time.Time
}

// Conditions can be searched by type.
type Conditions []Condition

// Get returns the condition of a type.
func (c Conditions) Get(kind string) (Condition, bool) {
	for _, x := range c {
		if x.Type == kind {
			return x, true
		}
	}
	return Condition{}, false
}

// LHVolume is volumes.longhorn.io.
type LHVolume struct {
	metav1.ObjectMeta
	Raw                                                                         *unstructured.Unstructured // as it was read, for saving
	NodeID, Frontend, AccessMode, DataLocality, Image, BackingImage, DataEngine string
	EngineNodeID                                                                string // of the target of data engine v2, since 1.12
	MigrationNodeID, FromBackup, LastAttachedBy, BackupTarget                   string
	Size                                                                        int64
	NumberOfReplicas                                                            int
	Migratable, Encrypted, DisableFrontend, Standby                             bool
	Status                                                                      LHVolumeStatus
	DiskSelector, NodeSelector                                                  []string // tags that a disk and a node must have
}

// LHVolumeStatus is the status of a Longhorn volume.
type LHVolumeStatus struct {
	OwnerID, State, Robustness, CurrentNodeID, CurrentMigrationNodeID, PendingNodeID string
	CurrentImage, ShareEndpoint, ShareState, RemountRequestedAt                      string
	FrontendDisabled, RestoreRequired, RestoreInitiated, ExpansionRequired           bool
	LastDegradedAt                                                                   string
	ActualSize                                                                       int64
	Conditions                                                                       Conditions
	Kubernetes                                                                       LHKubernetesStatus
	CloneState                                                                       string
	IsStandby                                                                        bool
	LastBackup, LastBackupAt                                                         string
	CurrentEngineNodeID, SwitchoverState                                             string // data engine v2, since 1.12
}

// LHKubernetesStatus is what Longhorn believes about the claim and its pods.
// With LastPVCRefAt or LastPodRefAt set it speaks of the past.
type LHKubernetesStatus struct {
	PVName, PVStatus, Namespace, PVCName, LastPVCRefAt, LastPodRefAt string
	Workloads                                                        []LHWorkload
}

// LHWorkload is one pod in kubernetesStatus.
type LHWorkload struct{ PodName, PodStatus, WorkloadName, WorkloadType string }

// LHInstance is what Engine and Replica have in common.
type LHInstance struct {
	VolumeName, NodeID, Image, DesireState, DataEngine                  string
	OwnerID, InstanceManager, CurrentState, CurrentImage, IP, StorageIP string
	Port                                                                int
	Started                                                             bool
	Conditions                                                          Conditions
}

// LHEngine is engines.longhorn.io.
type LHEngine struct {
	metav1.ObjectMeta
	Raw *unstructured.Unstructured // as it was read, for saving
	LHInstance
	Active, DisableFrontend, SalvageRequested bool
	Frontend, Endpoint                        string
	VolumeSize, CurrentSize                   int64
	ReplicaAddressMap                         map[string]string
	ReplicaModes                              map[string]string // replica → RW | WO | ERR
	UpgradedMap                               map[string]string // spec.upgradedReplicaAddressMap: only during a live upgrade
	Rebuilding                                map[string]bool   // by replica address
	WantedRestore, LastRestore                string            // names of backups
	Expanding                                 bool
	LastExpansionError, LastExpansionFailedAt string
	Restores, Clones                          []LHFilling // sorted by replica
}

// LHFilling is how far one replica has been filled: an entry of status.restoreStatus
// or status.cloneStatus of an engine, by the replica's address.
type LHFilling struct {
	Address, Error, LastRestored string
	Progress                     int64
	Running                      bool
}

// LHReplica is replicas.longhorn.io.
type LHReplica struct {
	metav1.ObjectMeta
	Raw *unstructured.Unstructured // as it was read, for saving
	LHInstance
	DiskID, DiskPath, DataDirectory, EngineName        string
	HealthyAt, FailedAt, LastHealthyAt, LastFailedAt   string
	Active, HardNodeAffinitySet, EvictionRequested     bool
	HardNodeAffinity, BackingImage, MigrationEngineRef string
	RebuildRetries                                     int64
}

// LHShareManager is sharemanagers.longhorn.io.
type LHShareManager struct {
	metav1.ObjectMeta
	Raw                             *unstructured.Unstructured // as it was read, for saving
	OwnerID, State, Endpoint, Image string
}

// LHProcess is one entry of instanceEngines or instanceReplicas.
type LHProcess struct {
	Name, State, Endpoint, ErrorMsg, Type, UUID string
	Conditions                                  map[string]bool
}

// LHInstanceManager is instancemanagers.longhorn.io; its pod has the same name.
type LHInstanceManager struct {
	metav1.ObjectMeta
	Raw                             *unstructured.Unstructured // as it was read, for saving
	NodeID, Type, DataEngine, Image string
	OwnerID, CurrentState, IP       string
	Engines, Frontends, Replicas    []LHProcess // sorted by name
	Conditions                      Conditions
}

// LHNode is nodes.longhorn.io.
type LHNode struct {
	metav1.ObjectMeta
	Raw                                *unstructured.Unstructured // as it was read, for saving
	AllowScheduling, EvictionRequested bool
	Region, Zone                       string
	Tags                               []string
	Conditions                         Conditions
	Disks                              []LHDisk // sorted by name
}

// LHDisk joins spec.disks and status.diskStatus.
type LHDisk struct {
	Name, Path, Type, UUID          string
	Tags                            []string
	AllowScheduling                 bool
	Reserved, Available, Scheduled  int64
	Maximum                         int64
	Conditions                      Conditions
	ScheduledReplicas               map[string]int64
	HasStatus, EvictionRequested    bool
	FilesystemType, InstanceManager string
}

// Instances are all that an instance-manager says it runs.
func (m *LHInstanceManager) Instances() []LHProcess {
	return slices.Concat(m.Engines, m.Frontends, m.Replicas)
}

// LHAttachment is volumeattachments.longhorn.io; one per volume, named like it.
type LHAttachment struct {
	metav1.ObjectMeta
	Raw     *unstructured.Unstructured // as it was read, for saving
	Volume  string
	Tickets []*LHTicket // sorted by id
}

// LHTicket joins spec.attachmentTickets and status.attachmentTicketStatuses.
type LHTicket struct {
	ID, Type, NodeID    string
	Parameters          map[string]string
	Generation          int64
	HasStatus           bool
	Satisfied           bool // counts only with equal generation
	Conditions          Conditions
	StatusGeneration    int64
	SatisfiedGeneration bool // the two generations are equal
}

// LHEngineImage is engineimages.longhorn.io.
type LHEngineImage struct {
	metav1.ObjectMeta
	Raw          *unstructured.Unstructured // as it was read, for saving
	Image, State string
	Incompatible bool
	Deployed     map[string]bool // by node
	Conditions   Conditions
	RefCount     int
}

// LHBackingImage is backingimages.longhorn.io; the copies by disk UUID.
type LHBackingImage struct {
	metav1.ObjectMeta
	Raw              *unstructured.Unstructured // as it was read, for saving
	UUID, SourceType string
	Copies           map[string]LHBackingCopy
	Size             int64
}

// LHBackingCopy is one copy of a backing image.
type LHBackingCopy struct {
	State, Message string
	Progress       int
	Changed        time.Time // since when it is in that state; zero: not said
}

// LHSetting is settings.longhorn.io.
type LHSetting struct {
	metav1.ObjectMeta
	Raw   *unstructured.Unstructured // as it was read, for saving
	Value string
}

// LHOrphan is orphans.longhorn.io.
type LHOrphan struct {
	metav1.ObjectMeta
	Raw          *unstructured.Unstructured // as it was read, for saving
	NodeID, Type string
	Parameters   map[string]string
}
