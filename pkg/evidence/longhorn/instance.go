// Package longhorn answers questions about the parts of Longhorn volumes: engines,
// replicas, instance-managers.
package longhorn

import (
	"fmt"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func read(x *snapshot.Index) evidence.Reading {
	return evidence.Resources(x, "longhorn.io/volumes", "longhorn.io/engines", "longhorn.io/replicas", "longhorn.io/instancemanagers")
}

// Idle asks whether an instance-manager runs no engine, no frontend and no replica besides
// one: its own lists name none, and no Engine or Replica says that it runs in it. The lists
// of one that does not answer are old, and what it runs goes on: the manager calls that
// unknown, and spares it then, too (longhorn-manager, node_controller.go).
func Idle(x *snapshot.Index, im *snapshot.LHInstanceManager, besides string) evidence.Answer {
	for _, p := range im.Instances() {
		if p.Name != besides {
			return evidence.No(evidence.FromAPI("InstanceManager "+im.Name, "status.instances["+p.Name+"]", p.State))
		}
	}
	for _, e := range x.Cluster.Longhorn.Engines {
		if a, is := runsIn(im, "Engine", e.Name, e.LHInstance); is && e.Name != besides {
			return a
		}
	}
	for _, r := range x.Cluster.Longhorn.Replicas {
		if a, is := runsIn(im, "Replica", r.Name, r.LHInstance); is && r.Name != besides {
			return a
		}
	}
	if im.CurrentState == "unknown" {
		return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/instancemanagers", Node: im.NodeID, Why: "its state is unknown: what it runs is not known"})
	}
	return read(x).Nothing(evidence.FromAPI("InstanceManager "+im.Name, "status", fmt.Sprintf("%d engines and replicas, and none says that it runs there", len(im.Instances()))))
}

// runsIn: "unknown" is what an instance is called that was started where nobody answers
// now (longhorn-manager, instance_handler.go).
func runsIn(im *snapshot.LHInstanceManager, kind, name string, i snapshot.LHInstance) (evidence.Answer, bool) {
	if i.InstanceManager != im.Name || !slices.Contains([]string{"running", "starting", "stopping", "unknown"}, i.CurrentState) {
		return evidence.Answer{}, false
	}
	return evidence.No(evidence.FromAPI(kind+" "+name, "status.instanceManagerName", im.Name)), true
}

// OtherReplica asks whether another replica of the volume holds its data: it is
// healthy, its node answers, and where the volume is attached its engine writes to it.
func OtherReplica(x *snapshot.Index, v *snapshot.Volume, besides *snapshot.LHReplica) evidence.Answer {
	e := x.EngineActive(v)
	var facts []report.Evidence
	for _, o := range v.Longhorn.Replicas {
		works := v.LH().Status.State != "attached" || e != nil && e.ReplicaModes[o.Name] == "RW"
		away := o.NodeID != "" && !x.NodeReady(o.NodeID).Ready
		if o.Name != besides.Name && o.HealthyAt != "" && o.FailedAt == "" && works && !away {
			facts = append(facts, evidence.FromAPI("Replica "+o.Name, "spec.healthyAt", o.HealthyAt))
		}
	}
	whole := read(x).And(evidence.Resource(x, "/nodes"))
	if !whole.Complete() {
		return whole.Nothing()
	}
	return whole.Found(facts...)
}

// Dispensable asks whether a replica has nothing to lose: it failed, or never was
// healthy.
func Dispensable(x *snapshot.Index, r *snapshot.LHReplica) evidence.Answer {
	switch {
	case r.FailedAt != "":
		return evidence.Yes(evidence.FromAPI("Replica "+r.Name, "spec.failedAt", r.FailedAt))
	case r.HealthyAt == "" && r.LastHealthyAt == "":
		return read(x).Nothing(evidence.FromAPI("Replica "+r.Name, "spec.healthyAt", "never"))
	}
	return evidence.No(evidence.FromAPI("Replica "+r.Name, "spec.healthyAt", r.HealthyAt))
}

// OnAnotherNode asks whether the volume is on another node than one of its engines.
func OnAnotherNode(x *snapshot.Index, v *snapshot.Volume, e *snapshot.LHEngine) evidence.Answer {
	current := v.LH().Status.CurrentNodeID
	fact := evidence.FromAPI("Volume "+v.LH().Name, "status.currentNodeID", current)
	if current == "" || current == e.NodeID {
		return evidence.No(fact)
	}
	return read(x).Nothing(fact, evidence.FromAPI("Engine "+e.Name, "spec.nodeID", e.NodeID))
}
