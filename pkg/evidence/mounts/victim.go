package mounts

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// stagingTime is how long the first staging of a block volume may take before a missing
// bind means something: kubelet's own limit of a CSI call.
const stagingTime = 2 * time.Minute

// VictimOf is a pod on the place's node that gets no device (it waits, or its container
// cannot be made again), or else one that cannot end; nil: nobody.
func VictimOf(pl *evidence.Place) *corev1.Pod {
	var ends *corev1.Pod
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		switch {
		case c.Terminating():
			if pods.Overdue(pl.X, c.Pod) && !pods.Runs(c.Pod) {
				ends = c.Pod
			}
		case (c.Waiting() || !pods.Runs(c.Pod) && refused(c.Pod)) && pl.X.Age(c.Pod.CreationTimestamp.Time) > stagingTime:
			return c.Pod
		}
	}
	return ends
}

// refused tells whether the runtime could not make a container: after a reboot the pod
// keeps its phase Running.
func refused(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		w := s.State.Waiting
		return w != nil && (w.Reason == "ContainerCreating" || pods.Unmade(w.Reason))
	})
}

// Attached asks whether the place's volume is attached to the node, where its driver
// attaches at all.
func Attached(pl *evidence.Place) evidence.Answer {
	if !pl.Volume.AttachRequired(pl.X) {
		return evidence.Yes()
	}
	va := pl.Volume.AttachmentOn(pl.Node)
	if va == nil {
		return evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Found()
	}
	return evidence.When(va.Status.Attached)
}

// Subject names a volume as its storage does: a Longhorn volume, else the PV.
func Subject(v *snapshot.Volume) report.Subject {
	if v.IsLonghorn() {
		return report.Subject{Kind: "Volume", Name: v.Handle}
	}
	return report.Subject{Kind: "PersistentVolume", Name: v.PVName()}
}
