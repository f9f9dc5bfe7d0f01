package collect

import "k8s.io/apimachinery/pkg/runtime/schema"

// resource is one resource of the API: how it is asked for and what it holds.
type resource struct {
	group    string
	versions []string // the first one that the server has counts
	kind     string
	plural   string
}

// need is how a gap names the resource.
func (r *resource) need(namespace string) string {
	need := "api/" + r.group + "/" + r.plural
	if namespace != "" {
		need += "/" + namespace
	}
	return need
}

// path is where a version of the resource is served.
func (r *resource) path(version, namespace, name string) string {
	p := "/apis/" + r.group + "/" + version
	if r.group == "" {
		p = "/api/" + version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + r.plural
	if name != "" {
		p += "/" + name
	}
	return p
}

func (r *resource) gvk(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.group, Version: version, Kind: r.kind}
}

const longhornGroup = "longhorn.io"

var v1 = []string{"v1"}

func core(kind, plural string) *resource {
	return &resource{versions: v1, kind: kind, plural: plural}
}

func apps(kind, plural string) *resource {
	return &resource{group: "apps", versions: v1, kind: kind, plural: plural}
}

func storage(kind, plural string, versions ...string) *resource {
	return &resource{group: "storage.k8s.io", versions: append([]string{"v1"}, versions...), kind: kind, plural: plural}
}

// longhorn is a resource of Longhorn: v1beta2 since 1.3, v1beta1 before.
func longhorn(kind, plural string) *resource {
	return &resource{group: longhornGroup, versions: []string{"v1beta2", "v1beta1"}, kind: kind, plural: plural}
}

// What is read. Secrets are not here and are never asked for.
var (
	pods       = core("Pod", "pods")
	nodes      = core("Node", "nodes")
	claims     = core("PersistentVolumeClaim", "persistentvolumeclaims")
	pvs        = core("PersistentVolume", "persistentvolumes")
	events     = core("Event", "events")
	services   = core("Service", "services")
	endpoints  = core("Endpoints", "endpoints")
	configMaps = core("ConfigMap", "configmaps")
	namespaces = core("Namespace", "namespaces")

	replicaSets  = apps("ReplicaSet", "replicasets")
	deployments  = apps("Deployment", "deployments")
	statefulSets = apps("StatefulSet", "statefulsets")
	daemonSets   = apps("DaemonSet", "daemonsets")

	jobs     = &resource{group: "batch", versions: v1, kind: "Job", plural: "jobs"}
	cronJobs = &resource{group: "batch", versions: []string{"v1", "v1beta1"}, kind: "CronJob", plural: "cronjobs"}

	classes     = storage("StorageClass", "storageclasses")
	csiDrivers  = storage("CSIDriver", "csidrivers", "v1beta1")
	csiNodes    = storage("CSINode", "csinodes", "v1beta1")
	attachments = storage("VolumeAttachment", "volumeattachments")
	capacities  = storage("CSIStorageCapacity", "csistoragecapacities", "v1beta1")
	attributes  = storage("VolumeAttributesClass", "volumeattributesclasses", "v1beta1")

	endpointSlices  = &resource{group: "discovery.k8s.io", versions: []string{"v1", "v1beta1"}, kind: "EndpointSlice", plural: "endpointslices"}
	leases          = &resource{group: "coordination.k8s.io", versions: v1, kind: "Lease", plural: "leases"}
	networkPolicies = &resource{group: "networking.k8s.io", versions: v1, kind: "NetworkPolicy", plural: "networkpolicies"}
	budgets         = &resource{group: "policy", versions: []string{"v1", "v1beta1"}, kind: "PodDisruptionBudget", plural: "poddisruptionbudgets"}
	roles           = &resource{group: "rbac.authorization.k8s.io", versions: v1, kind: "ClusterRole", plural: "clusterroles"}
	roleBindings    = &resource{group: "rbac.authorization.k8s.io", versions: v1, kind: "ClusterRoleBinding", plural: "clusterrolebindings"}

	lhVolumes          = longhorn("Volume", "volumes")
	lhEngines          = longhorn("Engine", "engines")
	lhFrontends        = longhorn("EngineFrontend", "enginefrontends")
	lhReplicas         = longhorn("Replica", "replicas")
	lhShareManagers    = longhorn("ShareManager", "sharemanagers")
	lhInstanceManagers = longhorn("InstanceManager", "instancemanagers")
	lhNodes            = longhorn("Node", "nodes")
	lhAttachments      = longhorn("VolumeAttachment", "volumeattachments")
	lhEngineImages     = longhorn("EngineImage", "engineimages")
	lhBackingImages    = longhorn("BackingImage", "backingimages")
	lhSettings         = longhorn("Setting", "settings")
	lhOrphans          = longhorn("Orphan", "orphans")
	lhBackups          = longhorn("Backup", "backups")
	lhBackupTargets    = longhorn("BackupTarget", "backuptargets")
	lhSnapshots        = longhorn("Snapshot", "snapshots")

	cephClusters  = &resource{group: "ceph.rook.io", versions: v1, kind: "CephCluster", plural: "cephclusters"}
	networkFences = &resource{group: "csiaddons.openshift.io", versions: []string{"v1alpha1"}, kind: "NetworkFence", plural: "networkfences"}
	zfsNodes      = &resource{group: "zfs.openebs.io", versions: v1, kind: "ZFSNode", plural: "zfsnodes"}
	lvmNodes      = &resource{group: "local.openebs.io", versions: []string{"v1alpha1"}, kind: "LVMNode", plural: "lvmnodes"}

	migrations = &resource{group: "kubevirt.io", versions: []string{"v1", "v1alpha3"}, kind: "VirtualMachineInstanceMigration", plural: "virtualmachineinstancemigrations"}
)

// everything is what a sweep of the whole cluster lists.
var everything = []*resource{
	nodes, pods, claims, pvs, events, services, endpoints, namespaces,
	replicaSets, deployments, statefulSets, daemonSets, jobs, cronJobs,
	classes, csiDrivers, csiNodes, attachments, capacities,
	endpointSlices, leases, networkPolicies, budgets,
	lhVolumes, lhEngines, lhFrontends, lhReplicas, lhShareManagers, lhInstanceManagers, lhNodes,
	lhAttachments, lhEngineImages, lhBackingImages, lhSettings, lhOrphans, lhBackups, lhBackupTargets, lhSnapshots, migrations,
	cephClusters, networkFences, zfsNodes, lvmNodes,
}

// recent are resources that Longhorn has since 1.12: an older one lacks nothing.
var recent = map[*resource]bool{lhFrontends: true}

// optional groups are add-ons: a cluster without them lacks nothing.
var optional = map[string]bool{
	longhornGroup: true, "kubevirt.io": true,
	"ceph.rook.io": true, "csiaddons.openshift.io": true, "zfs.openebs.io": true, "local.openebs.io": true,
}
