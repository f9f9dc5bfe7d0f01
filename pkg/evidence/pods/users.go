// Package pods answers questions about pods: who uses a volume, whether one has
// ended, and what its death would take along.
package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// read says whether the pods of all namespaces were read, with what ties them to
// volumes.
func read(x *snapshot.Index) evidence.Reading {
	return evidence.Resources(x, "/pods", "/persistentvolumeclaims", "/persistentvolumes")
}

// users are consumers of a volume, and of each object of the same handle.
func users(x *snapshot.Index, v *snapshot.Volume, of func(*snapshot.Volume) []*snapshot.Consumer) []*snapshot.Consumer {
	out := of(v)
	for _, o := range x.Others(v) { // also by the other name of a migrated disk
		out = append(out, of(o)...)
	}
	return out
}

// NoneUses asks whether no pod that has not finished uses a volume on a node; on no
// node in particular: anywhere.
func NoneUses(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	if v == nil { // a path whose volume the API does not know: nobody can want it
		return read(x).Nothing(evidence.FromAPI("PersistentVolumes", "metadata.name", fmt.Sprintf("none of %d is the volume", len(x.Cluster.PVs))))
	}
	for _, c := range users(x, v, (*snapshot.Volume).Live) {
		if on == "" || c.Node() == on || c.Node() == "" {
			return evidence.No(phase(c.Pod))
		}
	}
	where := "of all namespaces"
	if on != "" {
		where = "on node " + on
	} else if !evidence.Resource(x, "/pods").Complete() {
		where = "that may name its claim"
	}
	return evidence.UsersOf(x, v).And(evidence.Resource(x, "/persistentvolumes")).Nothing(evidence.FromAPI("Pods", "spec.volumes", fmt.Sprintf("none %s uses the volume (%d were read)", where, len(x.Cluster.Pods))))
}

// Gone asks whether the API knows no pod with a UID and no process of the node
// carries it.
func Gone(x *snapshot.Index, on, uid string) evidence.Answer {
	if p := x.PodByUID(uid); p != nil {
		return evidence.No(phase(p))
	}
	return evidence.All(
		evidence.Resource(x, "/pods").Nothing(evidence.FromAPI("Pods", "metadata.uid", fmt.Sprintf("none of %d is %s", len(x.Cluster.Pods), uid))),
		Silent(x, on, uid))
}

// Silent asks whether no process of a node belongs to a pod.
func Silent(x *snapshot.Index, on, uid string) evidence.Answer {
	view, whole := x.View(on), node.Whole(x, on, probes.Processes)
	if view == nil {
		return whole.Nothing()
	}
	for _, p := range view.ProcessesOfPod(uid) {
		return evidence.No(evidence.FromNode(on, fmt.Sprintf("proc/%d/cgroup", p.PID), p.Cgroup))
	}
	return whole.Nothing(evidence.FromNode(on, "proc/*/cgroup", fmt.Sprintf("none of %d processes belongs to pod %s", len(view.Facts.Processes), uid)))
}

// Over asks whether a pod has ended on a node: it is gone, or it finished or is being
// deleted and no process of it is left.
func Over(x *snapshot.Index, on, uid string) evidence.Answer {
	p := x.PodByUID(uid)
	switch {
	case p == nil:
		return Gone(x, on, uid)
	case p.DeletionTimestamp == nil && !snapshot.PodFinished(p):
		return evidence.No(phase(p))
	}
	return Silent(x, on, uid).With(phase(p))
}

// Exists asks whether a pod is in the API and nobody deletes it yet, nor its namespace, in
// which no pod can be made any more.
func Exists(x *snapshot.Index, p *corev1.Pod) evidence.Answer {
	found := x.Pod(p.Namespace, p.Name)
	switch {
	case found == nil || found.UID != p.UID:
		return evidence.Unseen(evidence.Lack{Need: "api//pods", Why: "the pod was not read"})
	case found.DeletionTimestamp != nil:
		return evidence.No(evidence.FromPod(p, "metadata.deletionTimestamp", found.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z")))
	}
	for _, ns := range x.Cluster.Namespaces {
		if ns.Name == p.Namespace && (ns.DeletionTimestamp != nil || ns.Status.Phase == corev1.NamespaceTerminating) {
			return evidence.No(evidence.FromAPI("Namespace "+ns.Name, "status.phase", string(corev1.NamespaceTerminating)))
		}
	}
	return evidence.Yes(phase(found))
}

func phase(p *corev1.Pod) report.Evidence {
	text := string(p.Status.Phase)
	if p.Spec.NodeName != "" {
		text += " on " + p.Spec.NodeName
	}
	return evidence.FromPod(p, "status.phase", text)
}

// Finished asks whether a pod has ended by itself.
func Finished(p *corev1.Pod) evidence.Answer {
	return evidence.When(snapshot.PodFinished(p), phase(p))
}

// NoneWorks asks whether no pod works with a volume on a node: one that waits for it,
// or ends and has no process left there, does not.
func NoneWorks(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	out := []evidence.Answer{read(x).Nothing(evidence.FromAPI("Pods", "spec.volumes", fmt.Sprintf("none on node %s works with the volume (%d were read)", on, len(x.Cluster.Pods))))}
	for _, c := range users(x, v, func(o *snapshot.Volume) []*snapshot.Consumer { return o.LiveConsumersOn(on) }) {
		if !c.Waiting() && !c.Terminating() {
			return evidence.No(phase(c.Pod))
		}
		out = append(out, Silent(x, on, string(c.Pod.UID)).With(phase(c.Pod)))
	}
	return evidence.All(out...)
}

// NoneRuns asks whether no running pod uses a volume.
func NoneRuns(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	for _, c := range users(x, v, (*snapshot.Volume).Running) {
		return evidence.No(phase(c.Pod))
	}
	return read(x).Nothing(evidence.FromAPI("Pods", "status.phase", fmt.Sprintf("no running one uses the volume (%d were read)", len(x.Cluster.Pods))))
}

// OfUnit asks whether a process of a node still is one of a systemd unit.
func OfUnit(x *snapshot.Index, on string, pid int, unit string) evidence.Answer {
	view, whole := x.View(on), node.Whole(x, on)
	if view == nil {
		return whole.Nothing()
	}
	p := view.Process(pid)
	if p == nil {
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Processes), Node: on, Why: fmt.Sprintf("process %d was not read", pid)})
	}
	return evidence.When(p.Unit == unit && p.PodUID == "", evidence.FromNode(on, fmt.Sprintf("proc/%d/cgroup", pid), p.Cgroup))
}
