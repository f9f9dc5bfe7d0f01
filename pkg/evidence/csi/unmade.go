package csi

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// refusedFor is the longest pause between two attempts of a controller to make a pod.
const refusedFor = 20 * time.Minute

// Unmade quotes the newest refusal to make a pod of a driver's workload: the security of pods in
// its namespace, a quota, a webhook. A Deployment keeps it as its condition, of the others only
// the event of the controller tells.
func Unmade(x *snapshot.Index, w snapshot.Owner) (said report.Evidence, refused bool) {
	if d, ok := w.Object.(*appsv1.Deployment); ok {
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
				return evidence.FromAPI(w.String(), "status.conditions["+string(c.Type)+"]", c.Reason+": "+c.Message), true
			}
		}
	}
	for _, e := range slices.Backward(x.Events(w.Kind, w.Namespace, w.Name)) {
		switch {
		case e.Reason == "SuccessfulCreate":
			return said, false
		case e.Reason == "FailedCreate" && x.Age(e.Last) < refusedFor:
			return evidence.FromEvent(w.String(), e), true
		}
	}
	return said, false
}

// Workloads are those of a driver's sidecar. Where none is proven, as none has a pod in the namespace of the driver, the only
// one that says so is looked at when its pods are refused: Undisputed keeps that from being certain.
func Workloads(x *snapshot.Index, driver, sidecar string) []snapshot.Owner {
	if out := x.SidecarWorkloads(driver, sidecar); len(out) > 0 {
		return out
	}
	return evidence.Keep(x.SidecarUnproven(driver, sidecar), func(w snapshot.Owner) bool {
		_, refused := Unmade(x, w)
		return refused
	})
}
