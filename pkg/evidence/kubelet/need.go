package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Need is a CSI driver that a pod needs on its node, and the pod of it there.
type Need struct {
	Driver string
	Plugin *corev1.Pod
	Volume *snapshot.Volume // nil for one that stands in the pod itself
}

// NeedsOf are the drivers of a pod's volumes that have a plugin on its node.
func NeedsOf(pl *evidence.Place) []Need {
	var out []Need
	add := func(driver string, v *snapshot.Volume) {
		if plugin := pl.X.DriverPodOn(driver, pl.Node); driver != "" && plugin != nil && !ended(plugin) {
			out = append(out, Need{driver, plugin, v})
		}
	}
	if pl.Node == "" {
		return nil
	}
	for _, v := range pl.X.VolumesOfPod(pl.Pod) {
		add(v.CSIName(), v)
	}
	for _, v := range pl.Pod.Spec.Volumes {
		if v.CSI != nil {
			add(v.CSI.Driver, nil)
		}
	}
	return out
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Wanted asks whether the pod needs its drivers to act now: it waits to start, or to end.
func Wanted(pl *evidence.Place) evidence.Answer {
	object := "Pod " + pl.Pod.Namespace + "/" + pl.Pod.Name
	switch {
	case pl.Pod.DeletionTimestamp != nil:
		return evidence.Yes(evidence.FromAPI(object, "metadata.deletionTimestamp", pl.Pod.DeletionTimestamp.UTC().Format(time.RFC3339)))
	case ended(pl.Pod):
		return evidence.No()
	}
	return evidence.When(pl.Pod.Status.Phase == corev1.PodPending && snapshot.PodProvided(pl.Pod).IsZero(), evidence.FromAPI(object, "spec.nodeName "+pl.Node+", status.phase", string(pl.Pod.Status.Phase)))
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
