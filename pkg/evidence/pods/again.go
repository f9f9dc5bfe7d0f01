package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// replacing are the controllers that keep a number of like pods: Kubernetes' own, and of OpenKruise, Strimzi,
// CloudNativePG.
var replacing = []string{"ReplicaSet apps", "StatefulSet apps", "DaemonSet apps", "ReplicationController ", "CloneSet apps.kruise.io",
	"StatefulSet apps.kruise.io", "DaemonSet apps.kruise.io", "StrimziPodSet core.strimzi.io", "Cluster postgresql.cnpg.io"}

// MadeAnew asks whether the controller of a pod makes another one that goes on where this one ended. A Job's begins
// its work anew, if the Job still tries (backoffLimit, podFailurePolicy), so it may be one that has not begun; of
// a VirtualMachineInstance, a Workflow or a TaskRun the pod is the only one there will be.
func MadeAnew(x *snapshot.Index, p *corev1.Pod) evidence.Answer {
	owner := metav1.GetControllerOf(p)
	if owner == nil {
		return evidence.No(evidence.FromPod(p, "metadata.ownerReferences", "none"))
	}
	fact := evidence.FromPod(p, "metadata.ownerReferences", owner.Kind+" "+owner.Name)
	switch {
	case Replaced(owner):
		return evidence.Yes(fact)
	case owner.Kind == "Job" && strings.HasPrefix(owner.APIVersion, "batch/"):
		if c := begun(p); c != "" {
			return evidence.No(fact, evidence.FromPod(p, "status.containerStatuses["+c+"]", "it has begun its work"))
		}
		for _, j := range x.Cluster.Jobs {
			if j.Namespace == p.Namespace && j.Name == owner.Name && (j.Spec.BackoffLimit == nil || j.Status.Failed < *j.Spec.BackoffLimit) {
				return evidence.Yes(fact, evidence.FromPod(p, "status.phase", "it has not begun"))
			}
		}
		return evidence.Unseen(evidence.Lack{Need: "api/batch/jobs", Why: "whether Job " + owner.Name + " tries once more"})
	}
	return evidence.Unseen(evidence.Lack{Need: "owner", Why: "whether " + owner.Kind + " " + owner.Name + " makes a pod anew that goes on with its work"})
}

// Replaced tells whether a controller keeps up a number of like pods.
func Replaced(owner *metav1.OwnerReference) bool {
	group, _, grouped := strings.Cut(owner.APIVersion, "/")
	if !grouped {
		group = ""
	}
	return slices.Contains(replacing, owner.Kind+" "+group)
}

// begun is a container of a pod that has run, or empty.
func begun(p *corev1.Pod) string {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil {
			return c.Name
		}
	}
	return ""
}
