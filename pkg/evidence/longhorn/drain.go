package longhorn

import (
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Cordoned asks whether a node takes no new pods: what a drain does first.
func Cordoned(x *snapshot.Index, node string) evidence.Answer {
	n := x.Node(node)
	return evidence.When(n != nil && n.Spec.Unschedulable, evidence.FromAPI("Node "+node, "spec.unschedulable", "true"))
}

// Budget asks whether a budget of Longhorn keeps the pod of an instance-manager that runs.
func Budget(x *snapshot.Index, im *snapshot.LHInstanceManager) evidence.Answer {
	b := budgetOf(x, im)
	if b == nil || im.CurrentState != "running" {
		return evidence.Not(evidence.Resource(x, "policy/poddisruptionbudgets").Nothing())
	}
	return evidence.When(b.Status.DisruptionsAllowed == 0,
		evidence.FromAPI("PodDisruptionBudget "+b.Namespace+"/"+b.Name, "status.disruptionsAllowed", "0"))
}

func budgetOf(x *snapshot.Index, im *snapshot.LHInstanceManager) *policyv1.PodDisruptionBudget {
	return evidence.First(x.Cluster.DisruptionBudgets, func(b *policyv1.PodDisruptionBudget) bool {
		return b != nil && b.Namespace == im.Namespace && b.Name == im.Name
	})
}

// DrainPolicy is the setting node-drain-policy; its default is the last replica.
func DrainPolicy(x *snapshot.Index) string {
	if p, ok := x.Setting("node-drain-policy"); ok && p != "" {
		return p
	}
	return "block-if-contains-last-replica"
}

// EnginesOn are the volumes whose engines an instance-manager runs, and the facts.
func EnginesOn(x *snapshot.Index, im *snapshot.LHInstanceManager) (volumes []string, a evidence.Answer) {
	var facts []report.Evidence
	for _, e := range im.Engines {
		name := e.Name
		if i := strings.LastIndex(name, "-e-"); i > 0 {
			name = name[:i]
		}
		volumes = append(volumes, name)
		facts = append(facts, evidence.FromAPI("InstanceManager "+im.Name, "status.instanceEngines", e.Name))
		if v := x.VolumeOfLonghorn(name); v != nil {
			for _, c := range v.LiveConsumersOn(im.NodeID) {
				facts = append(facts, evidence.FromPod(c.Pod, "spec.nodeName", im.NodeID))
			}
		}
	}
	return volumes, evidence.Reading{}.Found(facts...)
}

// Orphans asks whether an engine of the instance-manager is one that no volume wants.
func Orphans(x *snapshot.Index, im *snapshot.LHInstanceManager) evidence.Answer {
	for _, e := range im.Engines {
		if !slices.ContainsFunc(x.Cluster.Longhorn.Engines, func(o *snapshot.LHEngine) bool { return o.Name == e.Name }) {
			return Read(x, "engines").Nothing(evidence.FromAPI("InstanceManager "+im.Name, "status.instanceEngines", e.Name+", of which no Engine exists"))
		}
		if m := (EngineProcess{Manager: im, Name: e.Name}).Elsewhere(x); m != nil {
			return evidence.Yes(evidence.FromAPI("InstanceManager "+im.Name, "status.instanceEngines", e.Name+", which runs on node "+m.NodeID))
		}
	}
	return evidence.No()
}

// Last is a replica on a node that Longhorn counts as the last copy that it can reach.
type Last struct {
	Replica *snapshot.LHReplica
	Other   string // a node with a copy that does not count
	Why     string // why it does not count
	Gone    bool   // that node has no Node object: then the whole check fails
}

// Lasts are the last copies on one node.
type Lasts []Last

// Words are the names of the copies, and a node with another copy that does not count, with the
// reason; of a node that is gone first.
func (list Lasts) Words() (names []string, other, why string) {
	for _, l := range list {
		names = append(names, l.Replica.Name)
		if l.Other != "" && (other == "" || l.Gone) {
			other, why = l.Other, l.Why
		}
	}
	return names, other, why
}

// LastCopies lists the used replicas on a node whose volume has no healthy copy on
// another node that is schedulable and has a running, protected instance-manager
// (longhorn-manager: controller/instance_manager_controller.go, canDeleteInstanceManagerPDB).
func LastCopies(x *snapshot.Index, node, policy string) Lasts {
	byVolume := map[string][]*snapshot.LHReplica{}
	for _, r := range x.Cluster.Longhorn.Replicas {
		byVolume[r.VolumeName] = append(byVolume[r.VolumeName], r)
	}
	var out Lasts
	for _, r := range x.Cluster.Longhorn.Replicas {
		used := r.HealthyAt != "" || r.FailedAt != ""
		stopped := policy == "allow-if-replica-is-stopped" && r.CurrentState == "stopped"
		if r.NodeID != node || !used || stopped {
			continue
		}
		if last, ok := lastOf(x, r, byVolume[r.VolumeName]); ok {
			out = append(out, last)
		}
	}
	slices.SortFunc(out, func(a, b Last) int { return strings.Compare(a.Replica.Name, b.Replica.Name) })
	return out
}

func lastOf(x *snapshot.Index, r *snapshot.LHReplica, all []*snapshot.LHReplica) (Last, bool) {
	last := Last{Replica: r}
	safe := false
	for _, o := range all {
		if o == r || o.NodeID == r.NodeID || o.HealthyAt == "" || o.FailedAt != "" {
			continue
		}
		why, gone := unreachable(x, o.NodeID)
		if why == "" {
			safe = true
			continue
		}
		if last.Other == "" || gone {
			last.Other, last.Why, last.Gone = o.NodeID, why, gone
		}
	}
	return last, !safe || last.Gone
}

// unreachable says why a copy on a node does not count, or nothing.
func unreachable(x *snapshot.Index, node string) (why string, gone bool) {
	n := x.Node(node)
	switch {
	case node == "":
		return "has no node", false
	case n == nil:
		return "its Node object does not exist", true
	case n.Spec.Unschedulable:
		return "it is cordoned", false
	}
	for _, im := range x.InstanceManagersOn(node) {
		if im.CurrentState == "running" && budgetOf(x, im) != nil {
			return "", false
		}
	}
	return "no instance-manager with a budget runs there", false
}

// Evictable lists the replicas of a node, all of which an eviction has to move first.
func Evictable(x *snapshot.Index, node string) []string {
	there := evidence.Keep(x.Cluster.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.NodeID == node })
	return slices.Sorted(slices.Values(evidence.Each(there, func(r *snapshot.LHReplica) string { return r.Name })))
}
