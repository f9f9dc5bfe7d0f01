package remedy

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// MountAnew lets every pod of the volume on the node go, because only then is the
// filesystem unmounted.
func MountAnew(pl *evidence.Place) []Step {
	last := Words("Find the outage that made the error. The filesystem wants a check later, while nothing mounts it; most drivers make one before the next mount.")
	if n := filesystem.MountedElsewhere(pl); n != "" {
		return []Step{Words("Node " + n + " has the same filesystem mounted, too: two nodes write to one disk. Stop the workloads of both first. A new pod here would replay the journal under the other writer."), last}
	}
	if filesystem.Short(pl).Yes() {
		return []Step{Words("The device has become smaller than its filesystem. Give it its size back in the storage before anything else: a check cuts off what lies beyond its end, and what is unmounted now cannot be mounted again."), last}
	}
	var out []Step
	all := pl.Volume.LiveConsumersOn(pl.Node)
	for _, x := range all {
		if !x.Terminating() {
			step := LetGo(pl.X, x.Pod).If(OnlyHere(pl.Volume, pl.Node))
			if len(all) > 1 {
				step = step.Note("It is one of %d on node %s that use the volume; the filesystem is unmounted only when all of them are gone at one time.", len(all), pl.Node)
			} else {
				step = step.Note("No other pod uses the volume on node %s: its filesystem is unmounted when this one is gone.", pl.Node)
			}
			out = append(out, step)
		}
	}
	return append(out, last)
}

// LetGo ends a pod so that its node lets go of the volume. To a ReplicaSet a pod that is being
// deleted is none (FilterActivePods of k8s.io/kubernetes/pkg/controller): the next one mostly
// comes to the same node while the first still ends, and between the two nothing is unstaged.
func LetGo(x *snapshot.Index, pod *corev1.Pod) Step {
	s, owner := DeletePod(pod), metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "ReplicaSet" {
		return s
	}
	d, ok := x.TopOwner(pod).Object.(*appsv1.Deployment)
	if !ok { // how many pods it wants was not read
		return Words("Scale the workload of pod " + pod.Namespace + "/" + pod.Name + " to 0, wait until the pod is gone, and scale it back. A pod that is only deleted is followed by one on the same node before the volume is unmounted.")
	}
	if wanted, _ := snapshot.Replicas(d); wanted != 1 {
		return s.Note("Its ReplicaSet makes the next pod before this one has ended: if that one is to run on node %s, too, the volume stays there as it is. Then keep it away meanwhile (scale the workload down, or cordon the node).", pod.Spec.NodeName)
	}
	scale := func(from, to string) Command {
		return Kubectl("-n", d.Namespace, "scale", "deployment", operand(d.Name), "--current-replicas="+from, "--replicas="+to)
	}
	s.Name, s.Title = "scale-to-0", titled("Scale deployment %s/%s to 0, wait until pod %s is gone, and scale it to 1 again. A pod that is only deleted is followed by one on the same node before the volume is unmounted.", d.Namespace, d.Name, pod.Name)
	s.Commands, s.Undo = []Command{scale("1", "0")}, []Command{scale("0", "1")}
	return s
}

// Recreate lets the controller of a Deployment end its old pod before it starts the new one, and so ends a
// rollout in which each waits for the other. To delete the old pod does not: while the new one is not Ready its
// ReplicaSet makes the next at once, mostly on the same node, before the volume is unmounted (seen live).
func Recreate(o snapshot.Owner, old *corev1.Pod) Step {
	d, ok := o.Object.(*appsv1.Deployment)
	if !ok || d.Spec.Replicas != nil && *d.Spec.Replicas != 1 {
		return Words("Set the strategy of " + o.String() + " to Recreate and its replicas to 1: its controller then ends the old pod first. A pod that is only deleted is followed by one like it.")
	}
	patch := func(strategy string) Command {
		return Kubectl("-n", d.Namespace, "patch", "deployment", operand(d.Name), "--type", "merge", "-p", `{"spec":{"strategy":`+strategy+`}}`)
	}
	s := DeletePod(old)
	s.Name, s.Title = "strategy-recreate", titled("Set the strategy of Deployment %s/%s to Recreate, in its chart, too: its controller then ends pod %s, and the new one starts. This is a short downtime of the workload, at each update. A pod that is only deleted is followed by one like it, which takes the volume again.", d.Namespace, d.Name, old.Name)
	s.Commands, s.Undo = []Command{patch(`{"type":"Recreate","rollingUpdate":null}`)}, []Command{patch(`{"type":"RollingUpdate"}`)}
	return s
}

// AttachAnew ends the pods that wait for a volume, so that its attachment is undone and made again.
func AttachAnew(x *snapshot.Index, waits []*snapshot.Consumer) []Step {
	var out []Step
	if len(waits) > 0 {
		out = []Step{LetGo(x, waits[0].Pod).Note("It waits and mounts nothing; when it is gone the attachment is undone, and made again for the next pod.")}
	}
	return append(out, Words("Look in the storage backend for a detach of this volume that ended after the attach, and leave the attachment's finalizer alone: the attacher must undo what the API says."))
}
