package diagnosis

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// These are the index's answers about a driver's workloads. Where several workloads say
// that they serve the driver the index names none, and the rule that asked is noted as
// not checked: what it would conclude from their absence is at most likely.

const driverNeed = csi.DriverNeed

// DriverDaemonSet is the DaemonSet of a driver's node plugin, or nil.
func (p *Pass) DriverDaemonSet(driver string) *appsv1.DaemonSet {
	p.settle(driver)
	return p.Index.DriverDaemonSet(driver)
}

// DriverPods are the pods of a driver's node plugin.
func (p *Pass) DriverPods(driver string) []*corev1.Pod {
	p.settle(driver)
	return p.Index.DriverPods(driver)
}

// DriverPodOn is the driver's plugin pod on a node, or nil.
func (p *Pass) DriverPodOn(driver, node string) *corev1.Pod {
	p.settle(driver)
	return p.Index.DriverPodOn(driver, node)
}

// SidecarPods are the pods that run a sidecar for a driver.
func (p *Pass) SidecarPods(driver, sidecar string) []*corev1.Pod {
	p.settle(driver, sidecar)
	return p.Index.SidecarPods(driver, sidecar)
}

// SidecarWorkloads are the Deployments and StatefulSets whose template runs a sidecar for
// a driver.
func (p *Pass) SidecarWorkloads(driver, sidecar string) []snapshot.Owner {
	p.settle(driver, sidecar)
	return p.Index.SidecarWorkloads(driver, sidecar)
}

// settle notes a driver that more than one workload claims.
func (p *Pass) settle(driver string, sidecars ...string) {
	for _, l := range csi.Undisputed(p.Index, driver, sidecars...).Lacks() {
		p.disputed[driver] = l.Why
		p.Miss(l.Need, "")
	}
}

// undisputed says whether all drivers that a rule asked about have one workload.
func (p *Pass) undisputed(rule string) evidence.Reading {
	var r evidence.Reading
	for driver, why := range p.disputed {
		if need := driverNeed + driver; p.missed[missKey{need, ""}][rule] {
			r = r.And(evidence.Partial(evidence.Lack{Need: need, Why: why}))
		}
	}
	return r
}
