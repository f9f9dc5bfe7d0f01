package remedy

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DeletePod lets a controller make a pod anew; without one the manifest is saved
// first.
func DeletePod(pod *corev1.Pod) Step {
	name, ns := pod.Namespace+"/"+pod.Name, pod.Namespace
	s := Step{
		Name: "delete-pod", Title: titled("Delete pod %s; its controller makes a new one.", name),
		Commands: []Command{deleteByUID("pod", ns, pod.Name, string(pod.UID))},
		Risk:     Disruptive, Guards: []Guard{present(pod), spared(pod), ended(pod)},
		Verify: []Command{Kubectl("-n", ns, "get", "pods", "-o", "wide")},
	}
	if !snapshot.HasController(pod) {
		file := quote(within(pod.Name) + ".yaml")
		s.Title = titled("Save the manifest of pod %s, delete it and create it again: no controller does that.", name)
		s.Commands = append([]Command{Kubectl("-n", ns, "get", "pod", pod.Name, "-o", "yaml") + " > " + file}, s.Commands...)
		s.Undo = []Command{"sed '/^  resourceVersion:/d' " + file + " | kubectl create -f -"}
		return s
	}
	if owner := metav1.GetControllerOf(pod); !pods.Replaced(owner) {
		s.Title = titled("Delete pod %s, once what it does may end with it: %s %s may make no new one.", name, owner.Kind, owner.Name)
	}
	return s.If(anew(pod))
}

// ScaleUp gives a workload that was scaled to 0 a replica again. Why it has none only a person knows.
func ScaleUp(w snapshot.Owner) Step {
	return Words("Scale " + w.String() + " up again, after a look why it was scaled down; one replica is enough to begin with: " +
		Inline("kubectl", "-n", w.Namespace, "scale", strings.ToLower(w.Kind), w.Name, "--current-replicas=0", "--replicas=1"))
}

// Staff gives the workload of a controller its pods, of which it has none; refused says that what was
// found quotes who refuses them.
func Staff(w snapshot.Owner, refused bool) Step {
	wants, _ := snapshot.Replicas(w.Object)
	switch {
	case wants == 0:
		return ScaleUp(w)
	case refused:
		return Words(letIn(w.String(), "may allow too little"))
	case w.Kind == "Deployment":
		return Words("Read the conditions and events of " + w.String() + " and of its ReplicaSet: they say why no pod is made.")
	}
	return Words("Read the events of " + w.String() + ": they say why no pod is made.")
}

// DeleteFinishedPod removes the object of a pod that has ended, with its log. Nobody
// makes a new one.
func DeleteFinishedPod(pod *corev1.Pod) Step {
	return Step{
		Name: "delete-pod", Title: titled("Delete the finished pod %s/%s; its log goes with it. Deleting its Job does the same.", pod.Namespace, pod.Name),
		Commands: []Command{deleteByUID("pod", pod.Namespace, pod.Name, string(pod.UID))},
		Risk:     Disruptive,
		Guards: []Guard{present(pod), {
			Question: "pod-finished", Fact: titled("pod %s/%s has finished", pod.Namespace, pod.Name),
			Ask:  func(*snapshot.Index) evidence.Answer { return pods.Finished(pod) },
			Look: []Command{Kubectl("-n", pod.Namespace, "get", "pod", pod.Name)}, On: Target{Pod: pod.Namespace + "/" + pod.Name},
		}},
		Verify: []Command{Kubectl("-n", pod.Namespace, "get", "pods")},
	}
}

// DeleteVolumeAttachment removes an attachment that nobody uses. The attach-detach
// controller makes it again when a pod wants the volume there.
func DeleteVolumeAttachment(va *storagev1.VolumeAttachment, v *snapshot.Volume) Step {
	node := va.Spec.NodeName
	return Step{
		Name: "delete-volumeattachment", Title: titled("Delete VolumeAttachment %s. If it stays because of its finalizer, the attacher is the problem, not the object.", va.Name),
		Commands: []Command{deleteByUID("volumeattachment", "", va.Name, string(va.UID))},
		Risk:     DataLoss,
		Guards: []Guard{
			NoneUses(v, node), UnusedOn(v, node), Everywhere(v),
			{
				Question: "not-in-use", Fact: titled("the kubelet of node %s does not report volume %s in use", node, nameOf(v)),
				Ask:  func(x *snapshot.Index) evidence.Answer { return volume.NotInUse(x, v, node) },
				Look: []Command{Kubectl("get", "node", node, "-o", "jsonpath={.status.volumesInUse}")}, On: Target{Node: node, Volume: v},
			},
			{
				Question: "node-same", Fact: titled("VolumeAttachment %s was made for the node that is called %s now, not for an earlier machine of that name", va.Name, node),
				Ask:  func(x *snapshot.Index) evidence.Answer { return volume.MadeFor(x, va) },
				Look: []Command{Kubectl("get", "node/"+node, "volumeattachment/"+va.Name, "-o", "custom-columns=NAME:.metadata.name,CREATED:.metadata.creationTimestamp")}, On: Target{Node: node},
			},
		},
		Verify: []Command{Kubectl("get", "volumeattachment", va.Name)},
	}
}
