package holder

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Deadlock is how a Deployment comes to two pods on two nodes that want one volume.
type Deadlock struct {
	Says     string // "strategy", "several" (replicas), "unknown"
	Strategy string
	Is       evidence.Answer
}

// DeadlockOf asks whether the strategy of a Deployment keeps its old pod until the new one
// is Ready. With several replicas of one volume it is not the strategy that keeps it.
func DeadlockOf(x *snapshot.Index, o snapshot.Owner) Deadlock {
	d, _ := o.Object.(*appsv1.Deployment)
	if d == nil {
		why := "it was not found"
		if g, missing := x.GapFor("apps/deployments"); missing {
			why = g.Reason
		}
		return Deadlock{"unknown", "", evidence.Unseen(evidence.Lack{Need: "api/apps/deployments", Why: why})}
	}
	surge, unavailable := fenceposts(d)
	recreates := d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	n, _ := snapshot.Replicas(d)
	count := "1 replica"
	if n != 1 {
		count = fmt.Sprintf("%d replicas", n)
	}
	switch {
	case !recreates && (surge > 0 || unavailable == 0):
		words := fmt.Sprintf("strategy RollingUpdate, which for %s means maxSurge %d and maxUnavailable %d", count, surge, unavailable)
		return Deadlock{"strategy", words, evidence.Yes(evidence.FromAPI(o.String(), "spec.strategy", words))}
	case n > 1:
		return Deadlock{"several", count, evidence.Yes(evidence.FromAPI(o.String(), "spec.replicas", count))}
	}
	return Deadlock{Is: evidence.No()} // the controller removes the old pod by itself
}

// fenceposts resolves maxSurge (rounded up) and maxUnavailable (rounded down) as the
// deployment controller does (ResolveFenceposts in pkg/controller/deployment/util); both
// default to 25%.
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
	n, _ := snapshot.Replicas(d)
	surge, err := intstr.GetScaledValueFromIntOrPercent(s, int(n), true)
	if err != nil {
		surge = 0
	}
	if unavailable, err = intstr.GetScaledValueFromIntOrPercent(u, int(n), false); err != nil {
		unavailable = 0
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}
