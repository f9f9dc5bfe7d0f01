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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// kind is one kind of objects that Cluster holds.
type kind struct {
	schema.GroupVersionKind
	resource string
	// decode makes an object of JSON; quick does, too, when nothing in it is unusual.
	decode func(raw []byte) (metav1.Object, error)
	quick  func(d *quickReader, raw []byte) metav1.Object
	// objects are those of the list; replace sets it, add appends to it.
	objects func(*Cluster) []metav1.Object
	replace func(*Cluster, []metav1.Object)
	add     func(*Cluster, metav1.Object)
	// copied is a shallow copy with its version and kind set.
	copied func(metav1.Object) metav1.Object
	// raw is the object as it was read; only Longhorn's kinds have one.
	raw func(metav1.Object) *unstructured.Unstructured
	// notes writes down which fields decoding reads; only Longhorn's kinds have it.
	notes func(u *unstructured.Unstructured, note map[string]any) error
	// fromUnstructured is decode for an object that is already taken apart.
	fromUnstructured func(*unstructured.Unstructured) (metav1.Object, error)
}

// need is how a gap names the resource.
func (k *kind) need() string { return "api/" + k.Group + "/" + k.resource }

// held ties a kind to the list of Cluster that holds it.
func held[P metav1.Object](k *kind, list func(*Cluster) *[]P) {
	k.objects = func(c *Cluster) []metav1.Object {
		objects := make([]metav1.Object, 0, len(*list(c)))
		for _, p := range *list(c) {
			objects = append(objects, p)
		}
		return objects
	}
	k.add = func(c *Cluster, o metav1.Object) { *list(c) = append(*list(c), o.(P)) }
	k.replace = func(c *Cluster, objects []metav1.Object) {
		ps := make([]P, 0, len(objects))
		for _, o := range objects {
			ps = append(ps, o.(P))
		}
		*list(c) = ps
	}
}

// typed describes a kind that has a type of Kubernetes. Older served versions
// have the same fields where rules read them and are decoded into the same type.
func typed[T any, P interface {
	*T
	metav1.Object
	GetObjectKind() schema.ObjectKind
}](gv schema.GroupVersion, name, resource string, list func(*Cluster) *[]P) *kind {
	k := &kind{
		GroupVersionKind: gv.WithKind(name),
		resource:         resource,
		decode: func(raw []byte) (metav1.Object, error) {
			p := P(new(T))
			if err := json.UnmarshalCaseSensitivePreserveInts(raw, p); err != nil {
				return nil, err
			}
			p.GetObjectKind().SetGroupVersionKind(gv.WithKind(name))
			return p, nil
		},
		quick: func(d *quickReader, raw []byte) metav1.Object {
			p := P(new(T))
			if !d.into(raw, p) {
				return nil
			}
			p.GetObjectKind().SetGroupVersionKind(gv.WithKind(name))
			return p
		},
		copied: func(o metav1.Object) metav1.Object {
			shallow := *o.(P)
			p := P(&shallow)
			p.GetObjectKind().SetGroupVersionKind(gv.WithKind(name))
			return p
		},
	}
	held(k, list)
	return k
}

// kinds are the kinds of Cluster but Event and Longhorn's, in the order in which
// they are saved.
var kinds = []*kind{
	typed(corev1.SchemeGroupVersion, "Node", "nodes", func(c *Cluster) *[]*corev1.Node { return &c.Nodes }),
	typed(corev1.SchemeGroupVersion, "Namespace", "namespaces", func(c *Cluster) *[]*corev1.Namespace { return &c.Namespaces }),
	typed(corev1.SchemeGroupVersion, "Pod", "pods", func(c *Cluster) *[]*corev1.Pod { return &c.Pods }),
	typed(corev1.SchemeGroupVersion, "PersistentVolumeClaim", "persistentvolumeclaims", func(c *Cluster) *[]*corev1.PersistentVolumeClaim { return &c.Claims }),
	typed(corev1.SchemeGroupVersion, "PersistentVolume", "persistentvolumes", func(c *Cluster) *[]*corev1.PersistentVolume { return &c.PVs }),
	typed(corev1.SchemeGroupVersion, "Service", "services", func(c *Cluster) *[]*corev1.Service { return &c.Services }),
	typed(corev1.SchemeGroupVersion, "Endpoints", "endpoints", func(c *Cluster) *[]*corev1.Endpoints { return &c.Endpoints }),
	typed(corev1.SchemeGroupVersion, "ConfigMap", "configmaps", func(c *Cluster) *[]*corev1.ConfigMap { return &c.ConfigMaps }),
	typed(discoveryv1.SchemeGroupVersion, "EndpointSlice", "endpointslices", func(c *Cluster) *[]*discoveryv1.EndpointSlice { return &c.EndpointSlices }),
	typed(appsv1.SchemeGroupVersion, "ReplicaSet", "replicasets", func(c *Cluster) *[]*appsv1.ReplicaSet { return &c.ReplicaSets }),
	typed(appsv1.SchemeGroupVersion, "Deployment", "deployments", func(c *Cluster) *[]*appsv1.Deployment { return &c.Deployments }),
	typed(appsv1.SchemeGroupVersion, "StatefulSet", "statefulsets", func(c *Cluster) *[]*appsv1.StatefulSet { return &c.StatefulSets }),
	typed(appsv1.SchemeGroupVersion, "DaemonSet", "daemonsets", func(c *Cluster) *[]*appsv1.DaemonSet { return &c.DaemonSets }),
	typed(batchv1.SchemeGroupVersion, "Job", "jobs", func(c *Cluster) *[]*batchv1.Job { return &c.Jobs }),
	typed(batchv1.SchemeGroupVersion, "CronJob", "cronjobs", func(c *Cluster) *[]*batchv1.CronJob { return &c.CronJobs }),
	typed(storagev1.SchemeGroupVersion, "StorageClass", "storageclasses", func(c *Cluster) *[]*storagev1.StorageClass { return &c.StorageClasses }),
	typed(storagev1.SchemeGroupVersion, "CSIDriver", "csidrivers", func(c *Cluster) *[]*storagev1.CSIDriver { return &c.CSIDrivers }),
	typed(storagev1.SchemeGroupVersion, "CSINode", "csinodes", func(c *Cluster) *[]*storagev1.CSINode { return &c.CSINodes }),
	typed(storagev1.SchemeGroupVersion, "VolumeAttachment", "volumeattachments", func(c *Cluster) *[]*storagev1.VolumeAttachment { return &c.Attachments }),
	typed(storagev1.SchemeGroupVersion, "CSIStorageCapacity", "csistoragecapacities", func(c *Cluster) *[]*storagev1.CSIStorageCapacity { return &c.Capacities }),
	typed(storagev1.SchemeGroupVersion, "VolumeAttributesClass", "volumeattributesclasses", func(c *Cluster) *[]*storagev1.VolumeAttributesClass { return &c.AttributesClasses }),
	typed(coordinationv1.SchemeGroupVersion, "Lease", "leases", func(c *Cluster) *[]*coordinationv1.Lease { return &c.Leases }),
	typed(networkingv1.SchemeGroupVersion, "NetworkPolicy", "networkpolicies", func(c *Cluster) *[]*networkingv1.NetworkPolicy { return &c.NetworkPolicies }),
	typed(policyv1.SchemeGroupVersion, "PodDisruptionBudget", "poddisruptionbudgets", func(c *Cluster) *[]*policyv1.PodDisruptionBudget { return &c.DisruptionBudgets }),
	typed(rbacv1.SchemeGroupVersion, "ClusterRole", "clusterroles", func(c *Cluster) *[]*rbacv1.ClusterRole { return &c.ClusterRoles }),
	typed(rbacv1.SchemeGroupVersion, "ClusterRoleBinding", "clusterrolebindings", func(c *Cluster) *[]*rbacv1.ClusterRoleBinding { return &c.ClusterRoleBindings }),
}
