package collect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// widenLonghorn reads more of Longhorn where a volume's own objects do not tell
// why it is stuck.
func (c *collector) widenLonghorn(x *snapshot.Index, v *snapshot.Volume) {
	lh := v.LH()
	if lh == nil {
		return
	}
	if homeless(v) || lh.MigrationNodeID != "" || lh.Status.CurrentMigrationNodeID != "" {
		// Where a replica could live, and how many nodes there are, all of them tell.
		c.want(want{res: lhNodes, namespace: lh.Namespace})
	}
	if lh.Status.State == "attaching" || lh.Status.State == "detaching" {
		c.neighbours(x, v)
		c.others(x, v)
	}
	if lh.Status.Robustness == "degraded" || lh.Status.Robustness == "faulted" {
		c.sufferers(x, v)
	}
	if drivenFromOutside(v) && len(c.groups[harvesterGroup]) > 0 {
		c.want(want{res: pods, namespace: harvesterNamespace})
	}
}

// homeless tells whether a replica has no node, or Longhorn finds none for it.
func homeless(v *snapshot.Volume) bool {
	for _, kind := range []string{"Scheduled", "scheduled"} {
		if s, ok := v.LH().Status.Conditions.Get(kind); ok && s.Status == "False" {
			return true
		}
	}
	return slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.NodeID == "" })
}

// neighbours asks for the other volumes of the instance managers that a stuck
// volume depends on: a manager that serves nobody is at fault itself.
func (c *collector) neighbours(x *snapshot.Index, v *snapshot.Volume) {
	lh := v.LH()
	for _, node := range []string{lh.NodeID, lh.Status.CurrentNodeID, lh.Status.PendingNodeID} {
		for _, im := range x.InstanceManagersOn(node) {
			for _, e := range im.Engines {
				c.byName(lhEngines, im.Namespace, e.Name)
			}
		}
	}
	for _, e := range x.Cluster.Longhorn.Engines {
		c.byName(lhVolumes, e.Namespace, e.VolumeName)
		c.byName(lhAttachments, e.Namespace, e.VolumeName)
	}
}

// others asks for the engines of all nodes when one ended in an error: whether that is
// its node's fault, those of other nodes and the other ones of its own tell.
func (c *collector) others(x *snapshot.Index, v *snapshot.Volume) {
	e := x.EngineActive(v)
	if e == nil || e.CurrentState != "error" {
		return
	}
	ns := v.LH().Namespace
	c.want(want{res: lhEngines, namespace: ns})
	c.want(want{res: lhVolumes, namespace: ns})
	for _, o := range x.Cluster.Longhorn.Engines {
		if o.NodeID == e.NodeID && o.CurrentState == "error" {
			c.want(want{res: lhReplicas, labels: "longhornvolume=" + o.VolumeName})
		}
	}
}

// sufferers asks for the other volumes with an engine or a replica on the nodes of
// a volume that is not healthy: what hits one of them alone is no fault of a node.
func (c *collector) sufferers(x *snapshot.Index, v *snapshot.Volume) {
	ns := v.LH().Namespace
	for _, n := range longhornNodes(v) {
		if n != "" {
			c.want(want{res: lhEngines, namespace: ns, labels: "longhornnode=" + n})
			c.want(want{res: lhReplicas, namespace: ns, labels: "longhornnode=" + n})
		}
	}
	var others []string
	for _, e := range x.Cluster.Longhorn.Engines {
		others = append(others, e.VolumeName)
	}
	for _, r := range x.Cluster.Longhorn.Replicas {
		others = append(others, r.VolumeName)
	}
	slices.Sort(others)
	for _, name := range slices.Compact(others) {
		c.byName(lhVolumes, ns, name)
		c.want(want{res: lhEngines, namespace: ns, labels: "longhornvolume=" + name})
		c.want(want{res: lhReplicas, namespace: ns, labels: "longhornvolume=" + name})
		c.eventsOf(ns, name)
	}
	for _, e := range x.Cluster.Longhorn.Engines {
		c.eventsOf(ns, e.Name)
	}
}

// Harvester is built on Longhorn and drives its volumes itself.
const (
	harvesterGroup     = "harvesterhci.io"
	harvesterNamespace = "harvester-system"
)

// drivenFromOutside tells whether a volume is to be attached to a node for which
// there is no ticket: somebody else than Longhorn wrote the node.
func drivenFromOutside(v *snapshot.Volume) bool {
	lh := v.LH()
	if lh == nil || lh.NodeID == "" || v.Longhorn.Attachment == nil {
		return false
	}
	return !slices.ContainsFunc(v.Longhorn.Attachment.Tickets, func(t *snapshot.LHTicket) bool { return t.NodeID == lh.NodeID })
}

// outsiders are the pods that may drive a volume past Longhorn.
func outsiders(x *snapshot.Index, v *snapshot.Volume) []*corev1.Pod {
	if !drivenFromOutside(v) {
		return nil
	}
	var out []*corev1.Pod
	for _, pod := range x.Cluster.Pods {
		if pod.Namespace == harvesterNamespace && !ofDaemonSet(pod) {
			out = append(out, pod)
		}
	}
	return out
}

func ofDaemonSet(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOf(pod)
	return ref != nil && ref.Kind == "DaemonSet"
}
