package attach

import (
	_ "embed"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed rwo_rolling_update.md
var rwoRollingUpdateDoc string

// RWORollingUpdate finds two pods of one Deployment on two nodes that want one
// ReadWriteOnce volume.
var RWORollingUpdate = &diagnosis.Rule{
	Name: "rwo-rolling-update", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("apps/deployments"), diagnosis.API("apps/replicasets")},
	Explains: []string{"multi-attach-error", "pod-waiting-for-volume", "attach-failed"},
	Offers:   []string{"delete-pod"},
	Doc:      rwoRollingUpdateDoc,
	Run:      rollingUpdate,
}

func rollingUpdate(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, r := range rivalries(p, v) {
			if r.SameOwner() && r.WaiterOwner.Kind == "Deployment" {
				reportRollingUpdate(p, r)
			}
		}
	}
}

func reportRollingUpdate(p *diagnosis.Pass, r rivalry) {
	o := r.WaiterOwner
	f := r.found(p, report.Certain, diagnosis.ObjectSubject("Deployment", o.Namespace, o.Name))
	d, _ := o.Object.(*appsv1.Deployment)
	strategy := "an unknown strategy"
	switch {
	case d == nil:
		f.Missing("the strategy of Deployment " + o.Namespace + "/" + o.Name)
	case blocksOnOldPod(d):
		strategy = strategyWords(d)
		f.Fact(diagnosis.FromAPI("Deployment "+o.Namespace+"/"+o.Name, "spec.strategy", strategy))
	case replicas(d) > 1:
		strategy = fmt.Sprintf("%d replicas", replicas(d))
		f.Missing("the strategy is not what keeps the old pod: the Deployment wants several replicas of one volume that only one node may have")
	default:
		return // maxSurge 0: the controller removes the old pod by itself
	}
	f.Sayf("Deployment %s/%s (%s) has two pods on two nodes that want volume %s, which is ReadWriteOnce: %s runs and holds it, %s waits for it. "+
		"The Deployment keeps the old pod until the new one is Ready, and the new one cannot become Ready without the volume: a deadlock by strategy; nothing is stuck.",
		o.Namespace, o.Name, strategy, volumeName(r.Volume), podWhere(p, r.Holder), podWhere(p, r.Waiter))
	f.Unless("pod " + podName(r.Holder) + " being deleted, or a strategy that removes the old pod first (Recreate, or maxSurge 0 with maxUnavailable 1)")
	f.Advise(remedy.DeletePod(r.Holder).Note("The volume then moves to node %s. This is a short downtime of the workload.", r.Waiter.Spec.NodeName))
	f.Advise(remedy.Words(fmt.Sprintf("For good: set the strategy of Deployment %s/%s to Recreate (or maxSurge 0 with maxUnavailable 1), make it a StatefulSet, "+
		"or move the data to a ReadWriteMany volume. Do not detach by hand and do not force anything: pod %s is using the disk.", o.Namespace, o.Name, podName(r.Holder))))
	p.Report(f)
}

// blocksOnOldPod tells whether a Deployment starts a new pod before the old one is
// gone: a rolling update with a surge, or one that must not lose a pod
// (ResolveFenceposts in pkg/controller/deployment/util).
func blocksOnOldPod(d *appsv1.Deployment) bool {
	if d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return false
	}
	surge, unavailable := fenceposts(d)
	return surge > 0 || unavailable == 0
}

// fenceposts resolves maxSurge (rounded up) and maxUnavailable (rounded down) as the
// deployment controller does; both default to 25%.
func fenceposts(d *appsv1.Deployment) (surge, unavailable int) {
	quarter := intstr.FromString("25%")
	s, u := &quarter, &quarter
	if ru := d.Spec.Strategy.RollingUpdate; ru != nil {
		if ru.MaxSurge != nil {
			s = ru.MaxSurge
		}
		if ru.MaxUnavailable != nil {
			u = ru.MaxUnavailable
		}
	}
	n := int(replicas(d))
	surge, err := intstr.GetScaledValueFromIntOrPercent(s, n, true)
	if err != nil {
		surge = 0
	}
	if unavailable, err = intstr.GetScaledValueFromIntOrPercent(u, n, false); err != nil {
		unavailable = 0
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

func strategyWords(d *appsv1.Deployment) string {
	surge, unavailable := fenceposts(d)
	n := "1 replica"
	if replicas(d) != 1 {
		n = fmt.Sprintf("%d replicas", replicas(d))
	}
	return fmt.Sprintf("strategy RollingUpdate, which for %s means maxSurge %d and maxUnavailable %d", n, surge, unavailable)
}
