package snapshot

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Cluster is every object that was collected, by kind, sorted by namespace and name.
type Cluster struct {
	Pods                []*corev1.Pod
	Nodes               []*corev1.Node
	Claims              []*corev1.PersistentVolumeClaim
	PVs                 []*corev1.PersistentVolume
	Events              []*Event
	Services            []*corev1.Service
	Endpoints           []*corev1.Endpoints
	EndpointSlices      []*discoveryv1.EndpointSlice
	ConfigMaps          []*corev1.ConfigMap // only the share-manager recovery backend
	Namespaces          []*corev1.Namespace
	ReplicaSets         []*appsv1.ReplicaSet
	Deployments         []*appsv1.Deployment
	StatefulSets        []*appsv1.StatefulSet
	DaemonSets          []*appsv1.DaemonSet
	Jobs                []*batchv1.Job
	CronJobs            []*batchv1.CronJob
	StorageClasses      []*storagev1.StorageClass
	CSIDrivers          []*storagev1.CSIDriver
	CSINodes            []*storagev1.CSINode
	Attachments         []*storagev1.VolumeAttachment
	Capacities          []*storagev1.CSIStorageCapacity
	AttributesClasses   []*storagev1.VolumeAttributesClass
	Leases              []*coordinationv1.Lease
	NetworkPolicies     []*networkingv1.NetworkPolicy
	DisruptionBudgets   []*policyv1.PodDisruptionBudget
	ClusterRoles        []*rbacv1.ClusterRole
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding

	Longhorn Longhorn
	// Others are objects of kinds without a type of ours (Backup, Snapshot,
	// VirtualMachineInstanceMigration, LocalDisk …), kept whole for rules that know them.
	Others []*unstructured.Unstructured
}
