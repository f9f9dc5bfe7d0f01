package snapshot

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type (
	lhMeta = *metav1.ObjectMeta
	lhRaw  = **unstructured.Unstructured
)

// longhornKinds are Longhorn's kinds with a struct of ours; the others are kept whole
// in Cluster.Others.
var longhornKinds = []*kind{
	longhorn("Volume", "volumes", func(l *Longhorn) *[]*LHVolume { return &l.Volumes },
		func(o *LHVolume) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHVolume),
	longhorn("Engine", "engines", func(l *Longhorn) *[]*LHEngine { return &l.Engines },
		func(o *LHEngine) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHEngine),
	longhorn("EngineFrontend", "enginefrontends", func(l *Longhorn) *[]*LHEngineFrontend { return &l.Frontends },
		func(o *LHEngineFrontend) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHEngineFrontend),
	longhorn("Replica", "replicas", func(l *Longhorn) *[]*LHReplica { return &l.Replicas },
		func(o *LHReplica) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHReplica),
	longhorn("ShareManager", "sharemanagers", func(l *Longhorn) *[]*LHShareManager { return &l.ShareManagers },
		func(o *LHShareManager) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHShareManager),
	longhorn("InstanceManager", "instancemanagers", func(l *Longhorn) *[]*LHInstanceManager { return &l.InstanceManagers },
		func(o *LHInstanceManager) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHInstanceManager),
	longhorn("Node", "nodes", func(l *Longhorn) *[]*LHNode { return &l.Nodes },
		func(o *LHNode) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHNode),
	longhorn("VolumeAttachment", "volumeattachments", func(l *Longhorn) *[]*LHAttachment { return &l.Attachments },
		func(o *LHAttachment) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHAttachment),
	longhorn("EngineImage", "engineimages", func(l *Longhorn) *[]*LHEngineImage { return &l.EngineImages },
		func(o *LHEngineImage) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHEngineImage),
	longhorn("BackingImage", "backingimages", func(l *Longhorn) *[]*LHBackingImage { return &l.BackingImages },
		func(o *LHBackingImage) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHBackingImage),
	longhorn("Setting", "settings", func(l *Longhorn) *[]*LHSetting { return &l.Settings },
		func(o *LHSetting) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHSetting),
	longhorn("Orphan", "orphans", func(l *Longhorn) *[]*LHOrphan { return &l.Orphans },
		func(o *LHOrphan) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHOrphan),
	longhorn("Backup", "backups", func(l *Longhorn) *[]*LHBackup { return &l.Backups },
		func(o *LHBackup) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHBackup),
	longhorn("Snapshot", "snapshots", func(l *Longhorn) *[]*LHSnapshot { return &l.Snapshots },
		func(o *LHSnapshot) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHSnapshot),
	longhorn("BackupTarget", "backuptargets", func(l *Longhorn) *[]*LHBackupTarget { return &l.BackupTargets },
		func(o *LHBackupTarget) (lhMeta, lhRaw) { return &o.ObjectMeta, &o.Raw }, decodeLHBackupTarget),
}
