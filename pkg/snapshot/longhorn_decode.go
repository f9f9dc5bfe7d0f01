package snapshot

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// longhornGroup is the API group of Longhorn, in any version.
const longhornGroup = "longhorn.io"

// longhorn describes a kind of Longhorn: its list, the parts that every object
// has, and how its fields are read.
func longhorn[T any, P interface {
	*T
	metav1.Object
}](name, resource string, list func(*Longhorn) *[]P, parts func(P) (*metav1.ObjectMeta, **unstructured.Unstructured), fill func(P, fields)) *kind {
	k := &kind{
		GroupVersionKind: schema.GroupVersionKind{Group: longhornGroup, Kind: name},
		resource:         resource,
		decode: func(raw []byte) (metav1.Object, error) {
			u := &unstructured.Unstructured{}
			if err := json.UnmarshalCaseSensitivePreserveInts(raw, &u.Object); err != nil {
				return nil, err
			}
			return fromUnstructured(P(new(T)), u, parts, fill)
		},
		raw: func(o metav1.Object) *unstructured.Unstructured {
			_, raw := parts(o.(P))
			return *raw
		},
	}
	k.fromUnstructured = func(u *unstructured.Unstructured) (metav1.Object, error) {
		return fromUnstructured(P(new(T)), u, parts, fill)
	}
	k.notes = func(u *unstructured.Unstructured, note map[string]any) error {
		var failed error
		fill(P(new(T)), fields{m: u.Object, err: &failed, note: note})
		return failed
	}
	held(k, func(c *Cluster) *[]P { return list(&c.Longhorn) })
	return k
}

// fromUnstructured fills one of our structs. Text is taken where a number is
// due and the other way round; anything else that does not fit is an error.
func fromUnstructured[P metav1.Object](p P, u *unstructured.Unstructured, parts func(P) (*metav1.ObjectMeta, **unstructured.Unstructured), fill func(P, fields)) (metav1.Object, error) {
	var failed error
	root := fields{m: u.Object, err: &failed}
	meta, raw := parts(p)
	if err := metadata(u, meta); err != nil {
		return nil, err
	}
	fill(p, root)
	*raw = u
	return p, failed
}

// metadata decodes the metadata of an object without a type.
func metadata(u *unstructured.Unstructured, meta *metav1.ObjectMeta) error {
	found, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return errors.New("metadata is missing")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, meta); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	return nil
}

func decodeLHVolume(v *LHVolume, f fields) {
	v.NodeID, v.Frontend, v.AccessMode = f.text("spec.nodeID"), f.text("spec.frontend"), f.text("spec.accessMode")
	v.DataLocality, v.BackingImage = f.text("spec.dataLocality"), f.text("spec.backingImage")
	v.Image, v.DataEngine = imageOf(f), engineOf(f)
	v.MigrationNodeID, v.FromBackup = f.text("spec.migrationNodeID"), f.text("spec.fromBackup")
	v.BackupTarget = f.text("spec.backupTargetName")
	v.LastAttachedBy, v.Size = f.text("spec.lastAttachedBy"), f.number("spec.size")
	v.EngineNodeID = f.text("spec.engineNodeID")
	v.DiskSelector, v.NodeSelector = f.list("spec.diskSelector"), f.list("spec.nodeSelector")
	v.NumberOfReplicas = int(f.number("spec.numberOfReplicas"))
	v.Migratable, v.Encrypted = f.flag("spec.migratable"), f.flag("spec.encrypted")
	v.DisableFrontend, v.Standby = f.flag("spec.disableFrontend"), f.flag("spec.Standby")
	v.Status = lhVolumeStatus(f.group("status"))
}

// imageOf reads a field that was engineImage until Longhorn 1.6.
func imageOf(f fields) string { return f.text("spec.image", "spec.engineImage") }

// engineOf reads a field that was backendStoreDriver until Longhorn 1.6.
func engineOf(f fields) string { return f.text("spec.dataEngine", "spec.backendStoreDriver") }

func lhVolumeStatus(f fields) LHVolumeStatus {
	return LHVolumeStatus{
		OwnerID: f.text("ownerID"), State: f.text("state"), Robustness: f.text("robustness"),
		CurrentNodeID: f.text("currentNodeID"), CurrentMigrationNodeID: f.text("currentMigrationNodeID"),
		PendingNodeID: f.text("pendingNodeID"), CurrentImage: f.text("currentImage"),
		ShareEndpoint: f.text("shareEndpoint"), ShareState: f.text("shareState"),
		RemountRequestedAt: f.text("remountRequestedAt"),
		FrontendDisabled:   f.flag("frontendDisabled"), RestoreRequired: f.flag("restoreRequired"),
		IsStandby: f.flag("isStandby"), RestoreInitiated: f.flag("restoreInitiated"), ExpansionRequired: f.flag("expansionRequired"),
		LastDegradedAt: f.text("lastDegradedAt"), ActualSize: f.number("actualSize"),
		Conditions: f.conditions("conditions"), Kubernetes: lhKubernetes(f.group("kubernetesStatus")),
		CloneState: f.text("cloneStatus.state"),
		LastBackup: f.text("lastBackup"), LastBackupAt: f.text("lastBackupAt"),
		CurrentEngineNodeID: f.text("currentEngineNodeID"), SwitchoverState: f.text("switchoverState"),
	}
}

func lhKubernetes(f fields) LHKubernetesStatus {
	k := LHKubernetesStatus{
		PVName: f.text("pvName"), PVStatus: f.text("pvStatus"), Namespace: f.text("namespace"),
		PVCName: f.text("pvcName"), LastPVCRefAt: f.text("lastPVCRefAt"), LastPodRefAt: f.text("lastPodRefAt"),
	}
	for _, w := range f.items("workloadsStatus") {
		k.Workloads = append(k.Workloads, LHWorkload{
			PodName: w.text("podName"), PodStatus: w.text("podStatus"),
			WorkloadName: w.text("workloadName"), WorkloadType: w.text("workloadType"),
		})
	}
	return k
}

func lhInstance(f fields) LHInstance {
	return LHInstance{
		VolumeName: f.text("spec.volumeName"), NodeID: f.text("spec.nodeID"), Image: f.text("spec.image"),
		DesireState: f.text("spec.desireState"), DataEngine: f.text("spec.dataEngine"),
		OwnerID: f.text("status.ownerID"), InstanceManager: f.text("status.instanceManagerName"),
		CurrentState: f.text("status.currentState"), CurrentImage: f.text("status.currentImage"),
		IP: f.text("status.ip"), StorageIP: f.text("status.storageIP"),
		Port: int(f.number("status.port")), Started: f.flag("status.started"),
		Conditions: f.conditions("status.conditions"),
	}
}

func decodeLHEngine(e *LHEngine, f fields) {
	e.LHInstance = lhInstance(f)
	e.Image, e.DataEngine = imageOf(f), engineOf(f)
	e.Active, e.DisableFrontend = f.flag("spec.active"), f.flag("spec.disableFrontend")
	e.SalvageRequested = f.flag("spec.salvageRequested")
	e.Frontend, e.Endpoint = f.text("spec.frontend"), f.text("status.endpoint")
	e.VolumeSize, e.CurrentSize = f.number("spec.volumeSize"), f.number("status.currentSize")
	e.ReplicaAddressMap = f.texts("spec.replicaAddressMap")
	e.ReplicaModes = f.texts("status.replicaModeMap")
	e.UpgradedMap = f.texts("spec.upgradedReplicaAddressMap")
	for _, r := range f.entries("status.rebuildStatus") {
		if e.Rebuilding == nil {
			e.Rebuilding = map[string]bool{}
		}
		e.Rebuilding[r.key] = r.flag("isRebuilding")
	}
	e.WantedRestore, e.LastRestore = f.text("spec.requestedBackupRestore"), f.text("status.lastRestoredBackup")
	e.Expanding = f.flag("status.isExpanding")
	e.LastExpansionError = f.text("status.lastExpansionError")
	e.LastExpansionFailedAt = f.text("status.lastExpansionFailedAt")
	for _, r := range f.entries("status.restoreStatus") {
		e.Restores = append(e.Restores, LHFilling{
			Address: r.key, Error: r.text("error"), Progress: r.number("progress"),
			Running: r.flag("isRestoring"), LastRestored: r.text("lastRestored"),
		})
	}
	for _, r := range f.entries("status.cloneStatus") {
		e.Clones = append(e.Clones, LHFilling{
			Address: r.key, Error: r.text("error"), Progress: r.number("progress"), Running: r.flag("isCloning"),
		})
	}
}

func decodeLHReplica(r *LHReplica, f fields) {
	r.LHInstance = lhInstance(f)
	r.Image, r.DataEngine = imageOf(f), engineOf(f)
	r.DiskID, r.DiskPath = f.text("spec.diskID"), f.text("spec.diskPath")
	r.DataDirectory, r.EngineName = f.text("spec.dataDirectoryName"), f.text("spec.engineName")
	r.HealthyAt, r.FailedAt = f.text("spec.healthyAt"), f.text("spec.failedAt")
	r.LastHealthyAt, r.LastFailedAt = f.text("spec.lastHealthyAt"), f.text("spec.lastFailedAt")
	r.Active, r.EvictionRequested = f.flag("spec.active"), f.flag("spec.evictionRequested", "status.evictionRequested")
	r.HardNodeAffinity, r.BackingImage = f.text("spec.hardNodeAffinity"), f.text("spec.backingImage")
	r.HardNodeAffinitySet = r.HardNodeAffinity != ""
	r.RebuildRetries = f.number("spec.rebuildRetryCount")
	r.MigrationEngineRef = f.text("spec.migrationEngineName")
}
