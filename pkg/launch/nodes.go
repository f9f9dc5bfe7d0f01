package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Question is what was asked; it decides which nodes matter.
type Question struct {
	Kind      string // pvc | pod | volume | node | cluster | preflight
	Namespace string
	Name      string
	Names     []string // of preflight: the nodes; none: all
}

// Nodes are the nodes that a question needs to be looked at, those nearest to
// the fault first: where the device is, where pods wait for it or use it, and
// where it was before. For a cluster they are all nodes with storage on them, for a namespace
// those of its volumes.
func Nodes(x *snapshot.Index, q Question) []string {
	var nodes nodeSet
	switch q.Kind {
	case "pod":
		if pod := x.Pod(q.Namespace, q.Name); pod != nil {
			nodes.add(pod.Spec.NodeName)
		}
	case "node":
		nodes.add(q.Name)
		return nodes
	case "cluster":
		if q.Namespace == "" {
			return clusterNodes(x)
		}
	case "preflight":
		for _, n := range q.Names {
			nodes.add(n)
		}
		for _, n := range x.Cluster.Nodes {
			if len(q.Names) == 0 {
				nodes.add(n.Name)
			}
		}
		return nodes
	}
	volumes := volumesOf(x, q)
	for _, v := range volumes {
		nodes.addOf(x, v)
	}
	for _, v := range volumes {
		for _, n := range slices.Concat(homes(x, v), replicaNodes(x, v), elsewhere(x, v), rivals(x, v)) {
			nodes.add(n)
		}
	}
	return nodes
}

// volumesOf are the volumes that a question is about, and those that their pods wait for
// besides; none for a whole node or cluster.
func volumesOf(x *snapshot.Index, q Question) []*snapshot.Volume {
	var volumes []*snapshot.Volume
	switch q.Kind {
	case "pvc":
		volumes = append(volumes, x.VolumeOfClaim(q.Namespace, q.Name))
	case "volume":
		v := x.VolumeOfPV(q.Name)
		if v == nil {
			v = x.VolumeOfLonghorn(q.Name)
		}
		volumes = append(volumes, v)
	case "cluster":
		if q.Namespace != "" {
			volumes = x.VolumesIn(q.Namespace)
		}
	case "pod":
		volumes = x.VolumesOfPod(x.Pod(q.Namespace, q.Name))
	}
	return withSiblings(x, slices.DeleteFunc(volumes, func(v *snapshot.Volume) bool { return v == nil }))
}

// clusterNodes are Longhorn's nodes; without Longhorn, those with a volume.
func clusterNodes(x *snapshot.Index) []string {
	var nodes nodeSet
	for _, n := range x.Cluster.Longhorn.Nodes {
		nodes.add(n.Name)
	}
	for _, v := range x.Volumes {
		nodes.addOf(x, v)
	}
	slices.Sort(nodes)
	return nodes
}

// withSiblings adds the other volumes of pods that wait: what blocks one of
// them keeps the pod waiting, too.
func withSiblings(x *snapshot.Index, volumes []*snapshot.Volume) []*snapshot.Volume {
	for _, v := range slices.Clone(volumes) {
		for _, w := range v.Waiting() {
			for _, o := range x.VolumesOfPod(w.Pod) {
				if o != nil && !slices.Contains(volumes, o) {
					volumes = append(volumes, o)
				}
			}
		}
	}
	return volumes
}

type nodeSet []string

func (s *nodeSet) add(n string) {
	if n != "" && !slices.Contains(*s, n) {
		*s = append(*s, n)
	}
}

func (s *nodeSet) addOf(x *snapshot.Index, v *snapshot.Volume) {
	for _, n := range x.DeviceNodes(v) {
		s.add(n)
	}
	if p := x.ShareManagerPod(v); p != nil {
		s.add(p.Spec.NodeName)
	}
	for _, c := range v.Waiting() {
		s.add(c.Node())
	}
	for _, c := range v.Live() {
		s.add(c.Node())
	}
	for _, n := range x.OtherNodes(v) {
		s.add(n)
	}
}

// unreachable tells at once, without a try, why no pod can look at a node.
func unreachable(x *snapshot.Index, name string) (snapshot.Gap, bool) {
	gap := snapshot.Gap{Need: "node/" + name}
	ready := x.NodeReady(name)
	n := x.Node(name)
	switch {
	case n == nil && x.Collected("/nodes"):
		gap.Reason, gap.Detail = snapshot.NodeNotReady, "no node of this name exists any more"
	case n == nil:
		return gap, false // nodes may not be read; a try will tell
	case ready.Known && !ready.Ready:
		gap.Reason, gap.Detail = snapshot.NodeNotReady, notReady(ready, x)
	case snapshot.Windows(n):
		gap.Reason, gap.Detail = snapshot.Unsupported, "the node runs Windows; the agent knows Linux only"
	default:
		what := snapshot.Virtual(n)
		if what == "" {
			return gap, false
		}
		gap.Reason, gap.Detail = snapshot.Unsupported, "the node is no machine: "+what
	}
	return gap, true
}

func notReady(r snapshot.Readiness, x *snapshot.Index) string {
	words := "the node is not ready"
	if r.Unknown {
		words = "the node's kubelet stopped reporting"
	}
	if !r.Since.IsZero() {
		words += fmt.Sprintf(" %s ago", short(x.Age(r.Since)))
	}
	if text := strings.TrimSpace(r.Reason + " " + r.Message); text != "" {
		words += ": " + text
	}
	return words
}
