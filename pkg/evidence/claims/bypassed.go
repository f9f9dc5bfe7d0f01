package claims

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Bypassed asks whether no scheduler ever sees a pod that waits for the place's claim: every
// one of them has a node, and none got it from a scheduler. A young pod is not judged.
func Bypassed(pl *evidence.Place) evidence.Answer {
	waiting := pl.Volume.Waiting()
	for _, w := range waiting {
		if w.Node() == "" || scheduled(pl.X, w.Pod) || pl.X.Age(w.Pod.CreationTimestamp.Time) < time.Minute {
			return evidence.No()
		}
	}
	return evidence.When(len(waiting) > 0, evidence.FromAPI(Object(pl.Volume.Claim), "metadata.annotations["+snapshot.SelectedNode+"]", "absent"))
}

// Authored asks whether a person wrote a pod's nodeName: in the bare pod's own spec, or in
// the template of a controller that made the pod. A template without one did not give it.
func Authored(x *snapshot.Index, pod *corev1.Pod) evidence.Answer {
	object := "Pod " + pod.Namespace + "/" + pod.Name
	named := evidence.Yes(evidence.FromAPI(object, "spec.nodeName", pod.Spec.NodeName))
	if !snapshot.HasController(pod) {
		return named.With(evidence.FromAPI(object, "metadata.ownerReferences", "none"))
	}
	o := x.TopOwner(pod)
	for i, object := range slices.Backward(o.Objects) {
		if node, _ := templateNode(object); node != "" {
			return named.With(evidence.FromAPI(o.Chain[i], "spec.template.spec.nodeName", node))
		}
	}
	switch _, known := templateNode(o.Objects[0]); { // of the one that made the pod
	case !known:
		return evidence.Unseen(evidence.Lack{Need: "the template of " + o.Chain[0] + ", which should have the nodeName", Why: "it was not read"})
	case earlier(o.Objects[0], pod):
		return evidence.Unseen(evidence.Lack{Need: "the template of " + o.Chain[0] + " from which the pod was made", Why: "it has changed since"})
	}
	return evidence.No()
}

// earlier tells whether a StatefulSet made a pod from a template that has changed since.
func earlier(object any, pod *corev1.Pod) bool {
	s, ok := object.(*appsv1.StatefulSet)
	if !ok {
		return false
	}
	of := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
	return of != "" && s.Status.UpdateRevision != "" && of != s.Status.UpdateRevision
}

// templateNode is the nodeName in the template of a controller.
func templateNode(object any) (node string, known bool) {
	if t := snapshot.TemplateOf(object); t != nil {
		return t.Spec.NodeName, true
	}
	return "", false
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
	return snapshot.PodCondition(pod, corev1.PodScheduled).LastTransitionTime.After(pod.CreationTimestamp.Add(second))
}
