package claims

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SelectedNode is where the scheduler writes the node that it chose for a claim.
const SelectedNode = selectedNode

// Bypassed asks whether no scheduler ever sees a pod that waits for the place's claim: every
// one of them has a node, and none got it from a scheduler. A young pod is not judged.
func Bypassed(pl *evidence.Place) evidence.Answer {
	waiting := pl.Volume.Waiting()
	for _, w := range waiting {
		if w.Node() == "" || scheduled(pl.X, w.Pod) || pl.X.Age(w.Pod.CreationTimestamp.Time) < time.Minute {
			return evidence.No()
		}
	}
	return evidence.When(len(waiting) > 0, evidence.FromAPI(Object(pl.Volume.Claim), "metadata.annotations["+selectedNode+"]", "absent"))
}

// Authored asks whether a person wrote a pod's nodeName: in the bare pod's own spec, or in
// the template of the controller that made the pod.
func Authored(x *snapshot.Index, pod *corev1.Pod) evidence.Answer {
	object := "Pod " + pod.Namespace + "/" + pod.Name
	named := evidence.Yes(evidence.FromAPI(object, "spec.nodeName", pod.Spec.NodeName))
	o := x.TopOwner(pod)
	node, known := templateNode(o.Object)
	switch {
	case !snapshot.HasController(pod):
		return named.With(evidence.FromAPI(object, "metadata.ownerReferences", "none"))
	case !known:
		return evidence.Unseen(evidence.Lack{Need: "the template of " + o.String() + ", which should have the nodeName", Why: "it was not read"})
	case node == "":
		return evidence.Unseen(evidence.Lack{Need: "who set nodeName", Why: "the template of " + o.String() + " has none"})
	}
	return named.With(evidence.FromAPI(o.String(), "spec.template.spec.nodeName", node))
}

// templateNode is the nodeName in the template of a controller.
func templateNode(object any) (node string, known bool) {
	switch x := object.(type) {
	case *appsv1.Deployment:
		node = x.Spec.Template.Spec.NodeName
	case *appsv1.ReplicaSet:
		node = x.Spec.Template.Spec.NodeName
	case *appsv1.StatefulSet:
		node = x.Spec.Template.Spec.NodeName
	case *appsv1.DaemonSet:
		node = x.Spec.Template.Spec.NodeName
	case *batchv1.Job:
		node = x.Spec.Template.Spec.NodeName
	case *batchv1.CronJob:
		node = x.Spec.JobTemplate.Spec.Template.Spec.NodeName
	default:
		return "", false
	}
	return node, true
}

// scheduled tells whether a scheduler had to do with the pod: its event, or, where nobody is
// known to have written the nodeName, a condition that changed after the pod was created.
func scheduled(x *snapshot.Index, pod *corev1.Pod) bool {
	for _, e := range x.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "Scheduled" || e.Reason == "FailedScheduling" {
			return true
		}
	}
	if Authored(x, pod).Yes() && snapshot.HasController(pod) {
		return false
	}
	const second = 2 * time.Second // the API cuts times to whole seconds
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.LastTransitionTime.After(pod.CreationTimestamp.Add(second))
		}
	}
	return false
}
