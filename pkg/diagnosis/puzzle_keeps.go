package diagnosis

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/cloud"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// keptObject names the finalizers for which the object of a pod stays whose containers have ended.
func (z puzzle) keptObject() string {
	pod := z.p.Pod(z.s.Subject.Namespace, z.s.Subject.Name)
	if z.s.Subject.Kind != "Pod" || z.step != Unmounting || z.text != nil || pod == nil || len(pod.Finalizers) == 0 || pods.Runs(pod) || z.p.published(z.volume, z.s.Subject) {
		return ""
	}
	return "Pod " + pods.Name(pod) + " has ended, and its object stays until finalizer " + strings.Join(pod.Finalizers, ", ") + " is taken off."
}

// runsOn names a pod that was to end and has not: nothing of it is unmounted before its containers have ended
// (syncTerminatingPod, pkg/kubelet/kubelet.go).
func (z puzzle) runsOn() string {
	pod := z.p.Pod(z.s.Subject.Namespace, z.s.Subject.Name)
	if z.s.Subject.Kind != "Pod" || z.step != Unmounting || z.text != nil || pod == nil || !pods.Runs(pod) {
		return ""
	}
	return "Pod " + pods.Name(pod) + " was to end, and a container of it still runs on node " + pod.Spec.NodeName + ", as its kubelet says: before it has ended, nothing is unmounted."
}

// stillWith names the node that has an exclusive volume which nobody refused to attach here: it is
// attached once it has been detached there.
func (z puzzle) stillWith() string {
	if z.step != Attaching || z.text != nil || z.node == "" || !z.volume.Exclusive() {
		return ""
	}
	for _, va := range z.volume.Attachments {
		if va.Spec.NodeName != z.node && va.Status.Attached {
			return "The volume is still attached to node " + va.Spec.NodeName + ", so node " + z.node + " does not get it."
		}
	}
	return ""
}

// watched names the node at whose address a client counts as a user of the image.
func (z puzzle) watched() string {
	address, node := ceph.WatcherOn(z.p.at(z))
	if node == "" || z.node == "" {
		return ""
	}
	if r := z.p.NodeReady(node); r.Known && !r.Ready {
		node += ", which is not Ready"
	}
	return "Node " + z.node + " does not map the image, as Ceph counts a client at " + address + " as its user: an address of node " + node + "."
}

// nowhere is what the storage says of a volume that it does not have, or not where the node is.
func (z puzzle) nowhere() string {
	switch at := z.p.at(z); {
	case z.step != Attaching || z.text == nil || z.volume.PV == nil:
	case cloud.Lost(at).Yes():
		return "The storage says that it has no volume " + path.Base(z.volume.Handle) + ": it was deleted there, or is looked for in another account, project or zone."
	case cloud.OtherZone(at).Yes() && z.volume.PV.Spec.NodeAffinity == nil:
		return "The storage says that the volume lies in another zone than node " + z.node + ", and its PersistentVolume has no node affinity that keeps pods out of other zones."
	case cloud.OtherZone(at).Yes():
		return "The storage says that the volume lies in another zone than node " + z.node + "."
	}
	return ""
}

// sealed is what cryptsetup says of an encrypted volume that it does not open.
func (z puzzle) sealed() string {
	if z.text == nil || z.step != Staging {
		return ""
	}
	return crypt.Told(z.p.at(z))
}

// unplaced is a pod that waits for the volume and that the scheduler has refused every node, with the nodes that
// its volumes and its own placement leave to it.
func (z puzzle) unplaced() (pod *corev1.Pod, left []string) {
	for _, c := range z.volume.Waiting() {
		if _, refused := pods.Unscheduled(c.Pod); refused && c.Node() == "" && z.node == "" && z.text == nil && z.volume.PV != nil {
			return c.Pod, evidence.Each(pods.Left(z.p.Index, c.Pod, claims.VolumesFor(z.p.Index, c.Pod)), func(n *corev1.Node) string { return n.Name })
		}
	}
	return nil, nil
}

// noNode says of a pod that the scheduler places nowhere what its volumes have to do with that.
func (z puzzle) noNode(pod *corev1.Pod, left []string) string {
	says := "The scheduler finds no node for pod " + pods.Name(pod) + "."
	if beside := pods.PlacingOf(z.p.at(z), pod).Beside(); len(left) > 0 && len(beside) > 0 {
		says += " Its volumes, and its own placement, leave node " + words.List(left, 3) + "; beside the volumes the scheduler names: " + strings.Join(beside, ", ") + "."
	}
	return says
}

// containerRefused names who fails where the pod's volumes are mounted, and one of its containers
// cannot be made of them; it is empty elsewhere.
func (z puzzle) containerRefused() string {
	pod := z.p.Pod(z.s.Subject.Namespace, z.s.Subject.Name)
	if z.s.Subject.Kind != "Pod" || pod == nil {
		return ""
	}
	for _, c := range snapshot.Statuses(pod) {
		if w := c.State.Waiting; w != nil {
			switch w.Reason {
			case "CreateContainerConfigError":
				return "The kubelet"
			case "CreateContainerError", "RunContainerError":
				return "The container runtime"
			}
		}
	}
	return ""
}
