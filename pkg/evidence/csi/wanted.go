package csi

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Wanted asks whether somebody needs the driver to act on a volume now: a pod waits,
// or an attachment is asked for and not there.
func Wanted(pl *evidence.Place) evidence.Answer {
	facts := evidence.Phases(pl.Volume.Waiting())
	for _, va := range pl.Volume.Attachments {
		if !va.Status.Attached && va.DeletionTimestamp == nil {
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "false"))
		}
	}
	return pl.Consumers().Found(facts...)
}

// overdue is how long the end of a volume may take while its driver is there.
const overdue = time.Minute

// Owed asks whether the driver has yet to take a volume down, and names what only it can do: unmount
// it for a pod whose containers have ended, detach it, or delete it after its claim. What is not a
// CSI volume, the components of Kubernetes may take down themselves.
func Owed(pl *evidence.Place) (string, evidence.Answer) {
	v := pl.Volume
	if v.PV == nil || v.PV.Spec.CSI == nil {
		return "", evidence.No()
	}
	for _, c := range v.Terminating() {
		if pods.Overdue(pl.X, c.Pod) && !pods.Runs(c.Pod) && len(c.Pod.Finalizers) == 0 {
			return "unmount the volume of pod " + pods.Name(c.Pod), evidence.Yes(when("Pod "+pods.Name(c.Pod), c.Pod.DeletionTimestamp.Time))
		}
	}
	for _, va := range v.Attachments {
		if d := va.DeletionTimestamp; d != nil && pl.X.Age(d.Time) > overdue {
			return "detach the volume from node " + va.Spec.NodeName, evidence.Yes(when("VolumeAttachment "+va.Name, d.Time))
		}
	}
	since := v.PV.Status.LastPhaseTransitionTime
	if v.PV.Status.Phase == corev1.VolumeReleased && v.PV.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete && since != nil && pl.X.Age(since.Time) > overdue {
		return "delete the volume, whose claim is gone", evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "status.phase", string(v.PV.Status.Phase)))
	}
	return "", evidence.No()
}

func when(object string, deleted time.Time) report.Evidence {
	return evidence.FromAPI(object, "metadata.deletionTimestamp", deleted.UTC().Format(time.RFC3339))
}
