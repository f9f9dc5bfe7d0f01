package kubelet

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Need is a CSI driver that a pod needs on its node, and the pod of it there.
type Need struct {
	At     *evidence.Place
	Driver string
	Plugin *corev1.Pod
	Volume *snapshot.Volume
	Wanted evidence.Answer // it is needed now
}

// NeedsAt are the drivers whose plugins must answer at a place: for its pod, for its volume on the node,
// or where the volume shall be made.
func NeedsAt(pl *evidence.Place) []Need {
	switch {
	case pl.Pod != nil:
		return NeedsOf(pl)
	case pl.Node != "":
		return add(nil, Need{At: pl, Driver: pl.Volume.CSIName(), Volume: pl.Volume, Wanted: csi.ToRelease(pl)})
	}
	uses, wanted := nodeplugin.Uses, provision.Pending(pl)
	if pl.Volume.PV != nil { // at its places it is asked for those that have a node
		uses, wanted = nodeplugin.Unplaced, evidence.Yes(evidence.Phases(pl.Volume.Waiting())...)
	}
	var out []Need
	for _, u := range few(pl.X, uses(pl)) {
		out = add(out, Need{At: pl.On(u.Node), Driver: u.Driver, Volume: pl.Volume, Wanted: wanted})
	}
	return out
}

// NeedsOf are the drivers of a pod's volumes that have a plugin on its node, or where one must be
// registered for the pod to get a node.
func NeedsOf(pl *evidence.Place) []Need {
	var out []Need
	for _, v := range pl.X.VolumesOfPod(pl.Pod) {
		if pl.Node != "" {
			out = add(out, Need{At: pl, Driver: v.CSIName(), Volume: v, Wanted: wanted(pl)})
			continue
		}
		at := &evidence.Place{X: pl.X, Volume: v, Texts: pl.Texts, Swept: pl.Swept}
		for _, u := range few(pl.X, nodeplugin.Unplaced(at)) {
			on := at.On(u.Node)
			on.Pod = pl.Pod
			out = add(out, Need{At: on, Driver: u.Driver, Volume: v, Wanted: wanted(pl)})
		}
	}
	return out
}

// few are some of the nodes on which a pod without a node could be, those first that were looked at: what keeps
// a driver from all nodes of a cluster is seen on three.
func few(x *snapshot.Index, uses []nodeplugin.Use) []nodeplugin.Use {
	seen := evidence.Keep(uses, func(u nodeplugin.Use) bool { return x.View(u.Node) != nil })
	unseen := evidence.Keep(uses, func(u nodeplugin.Use) bool { return x.View(u.Node) == nil })
	all := slices.Concat(seen, unseen)
	return all[:min(len(all), 3)]
}

// add adds a driver of which a pod is on the node.
func add(list []Need, n Need) []Need {
	n.Plugin = n.At.X.DriverPodOn(n.Driver, n.At.Node)
	if n.Driver == "" || n.Plugin == nil || pods.Finished(n.Plugin).Yes() {
		return list
	}
	return append(list, n)
}

// wanted asks whether the pod needs its drivers to act now: it waits to start, or to end.
func wanted(pl *evidence.Place) evidence.Answer {
	object := "Pod " + pl.Pod.Namespace + "/" + pl.Pod.Name
	switch {
	case pl.Pod.DeletionTimestamp != nil:
		return evidence.Yes(evidence.FromAPI(object, "metadata.deletionTimestamp", pl.Pod.DeletionTimestamp.UTC().Format(time.RFC3339)))
	case pods.Finished(pl.Pod).Yes():
		return evidence.No()
	}
	return evidence.When(pl.Pod.Status.Phase == corev1.PodPending && snapshot.PodProvided(pl.Pod).IsZero(), evidence.FromAPI(object, "spec.nodeName "+cmp.Or(pl.Node, "absent")+", status.phase", string(pl.Pod.Status.Phase)))
}

// Ready asks whether the node is Ready, as far as nodes may be read: of one that is not,
// nothing is expected.
func Ready(pl *evidence.Place) evidence.Answer {
	r := pl.X.NodeReady(pl.Node)
	if _, unread := pl.X.GapFor("/nodes"); unread && !r.Known {
		return evidence.Yes()
	}
	return evidence.When(r.Ready)
}

// Settled asks whether a plugin had its time: all containers run since then, or could not
// start for as long.
func Settled(x *snapshot.Index, plugin *corev1.Pod) evidence.Answer {
	at := plugin.CreationTimestamp.Time
	for _, c := range plugin.Status.ContainerStatuses {
		if r := c.State.Running; r != nil && r.StartedAt.After(at) {
			at = r.StartedAt.Time
		}
	}
	return evidence.When(x.Age(at) >= csi.Startup)
}
