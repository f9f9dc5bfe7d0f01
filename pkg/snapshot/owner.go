package snapshot

import corev1 "k8s.io/api/core/v1"

// Owner is the workload at the top of a pod's controllers.
type Owner struct {
	Kind, Namespace, Name, UID string
	Pod                        bool     // the pod has no controller: it is its own owner
	Object                     any      // *appsv1.Deployment …; nil when it was not collected
	Chain                      []string // "ReplicaSet shop/web-5d", "Deployment shop/web"
}

// TopOwner follows the controller references of a pod to the top.
func (x *Index) TopOwner(pod *corev1.Pod) Owner { return Owner{} }

// HasController tells whether somebody recreates the pod.
func HasController(pod *corev1.Pod) bool { return false }
