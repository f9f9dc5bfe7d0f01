package longhorn

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Missed is an instance-manager that does not run and without which the place's volume cannot be
// attached: the only one in which its engine may start, or its last replica. What is said of its pod
// comes with it. A node that does not work, or whose longhorn-manager does not, is another cause.
func Missed(pl *evidence.Place) (im *snapshot.LHInstanceManager, a evidence.Answer) {
	x, v := pl.X, pl.Volume
	lh := v.LH()
	if lh == nil || lh.Status.State == "attached" || WantedFor(x, v) <= patience {
		return nil, evidence.No()
	}
	usable := false // another replica than the one that is looked at
	var last *snapshot.LHInstanceManager
	for _, i := range instances(v) {
		if i.DesireState != "running" || i.CurrentState == "running" {
			usable = usable || i.Kind == "replica" && i.CurrentState == "running"
			continue
		}
		im := onlyAway(x, i)
		switch {
		case im != nil && i.Kind != "replica":
			return im, missing(x, im)
		case i.Kind == "replica" && im == nil:
			usable = true
		case im != nil:
			last = im
		}
	}
	if last == nil || usable {
		return nil, evidence.No()
	}
	return last, missing(x, last)
}

// onlyAway is the instance-manager in which an instance has to start, when none that could take it runs on
// its node, and it had time to.
func onlyAway(x *snapshot.Index, i Instance) *snapshot.LHInstanceManager {
	if x.LHNode(i.NodeID) == nil || !nodeWorks(x, i.NodeID) || managerAway(x, i.NodeID) != "" {
		return nil
	}
	list := evidence.Keep(x.InstanceManagersOn(i.NodeID), i.serves)
	if slices.ContainsFunc(list, func(im *snapshot.LHInstanceManager) bool { return im.CurrentState == "running" }) {
		return nil
	}
	for _, im := range list {
		pod := x.Pod(im.Namespace, im.Name)
		young := pod != nil && pods.Young(x, pod, patience) || pod == nil && x.Age(im.CreationTimestamp.Time) < patience
		if im.CurrentState != "unknown" && im.CurrentState != "" && present(x, im) && !young && (pod == nil || !snapshot.PodReady(pod)) {
			return im
		}
	}
	return nil
}

// missing quotes it; that it has no pod is seen where the pods were read.
func missing(x *snapshot.Index, im *snapshot.LHInstanceManager) evidence.Answer {
	facts := away(x, im)
	if x.Pod(im.Namespace, im.Name) != nil {
		return evidence.Yes(facts...)
	}
	return evidence.ResourceIn(x, "/pods", im.Namespace).Nothing(facts...)
}

// PodWords says how the pod of an instance-manager is; empty: it is not there.
func PodWords(x *snapshot.Index, im *snapshot.LHInstanceManager) string {
	pod := x.Pod(im.Namespace, im.Name)
	if pod == nil {
		return ""
	}
	return pods.Condition(pod)
}
