package snapshot

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Owner is the workload at the top of a pod's controllers.
type Owner struct {
	Kind, Namespace, Name, UID string
	Pod                        bool     // the pod has no controller: it is its own owner
	Object                     any      // *appsv1.Deployment …; nil when it was not collected
	Chain                      []string // "ReplicaSet shop/web-5d", "Deployment shop/web"
	Objects                    []any    // of the chain; nil: not read
}

// String names the owner as kubectl does: "Deployment shop/web".
func (o Owner) String() string { return o.Kind + " " + o.Namespace + "/" + o.Name }

// TemplateOf is the template from which a workload makes its pods, or nil.
func TemplateOf(workload any) *corev1.PodTemplateSpec {
	switch o := workload.(type) {
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template
	}
	return nil
}

// Replicas are how many pods a workload shall have, and how many are Ready.
func Replicas(workload any) (wanted, ready int32) {
	var n *int32
	switch o := workload.(type) {
	case *appsv1.Deployment:
		n, ready = o.Spec.Replicas, o.Status.ReadyReplicas
	case *appsv1.StatefulSet:
		n, ready = o.Spec.Replicas, o.Status.ReadyReplicas
	}
	if n == nil {
		return 1, ready // the API's default
	}
	return *n, ready
}

// TopOwner follows the controller references of a pod to the top. It stops at
// the first owner that was not collected.
func (x *Index) TopOwner(pod *corev1.Pod) Owner {
	if pod == nil {
		return Owner{}
	}
	o := Owner{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), Pod: true, Object: pod}
	ref := metav1.GetControllerOf(pod)
	for steps := 0; ref != nil && steps < 8; steps++ {
		var meta metav1.Object
		o = Owner{Kind: ref.Kind, Namespace: pod.Namespace, Name: ref.Name, UID: string(ref.UID), Chain: o.Chain, Objects: o.Objects}
		o.Object, meta = x.workload(ref.Kind, pod.Namespace, ref.Name)
		o.Chain = append(slices.Clone(o.Chain), o.String())
		o.Objects = append(slices.Clone(o.Objects), o.Object)
		ref = nil
		if meta != nil {
			if o.UID == "" {
				o.UID = string(meta.GetUID())
			}
			ref = metav1.GetControllerOf(meta)
		}
	}
	return o
}

// HasController tells whether somebody recreates the pod. The mirror of a static
// pod is owned by its Node, whose kubelet recreates it.
func HasController(pod *corev1.Pod) bool { return pod != nil && metav1.GetControllerOf(pod) != nil }

// workload finds a controller by kind and name.
func (x *Index) workload(kind, namespace, name string) (any, metav1.Object) {
	switch kind {
	case "ReplicaSet":
		return pick(x.Cluster.ReplicaSets, namespace, name)
	case "Deployment":
		return pick(x.Cluster.Deployments, namespace, name)
	case "StatefulSet":
		return pick(x.Cluster.StatefulSets, namespace, name)
	case "DaemonSet":
		return pick(x.Cluster.DaemonSets, namespace, name)
	case "Job":
		return pick(x.Cluster.Jobs, namespace, name)
	case "CronJob":
		return pick(x.Cluster.CronJobs, namespace, name)
	case "Node":
		return pick(x.Cluster.Nodes, "", name)
	}
	for _, u := range x.Cluster.Others {
		if u != nil && u.GetKind() == kind && u.GetNamespace() == namespace && u.GetName() == name {
			return u, u
		}
	}
	return nil, nil
}

func pick[T interface {
	comparable
	metav1.Object
}](list []T, namespace, name string) (any, metav1.Object) {
	var none T
	for _, o := range list {
		if o != none && o.GetNamespace() == namespace && o.GetName() == name {
			return o, o
		}
	}
	return nil, nil
}
