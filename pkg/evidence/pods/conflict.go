package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Conflict is a pod whose volumes and own placement leave no node, or whose node its volumes
// may not be used on.
type Conflict struct {
	Guilty  []*snapshot.Volume // that exclude a node which the pod could use
	Bound   []*snapshot.Volume // that have a place
	Places  string             // where the volumes may be used
	Own     string             // what the pod asks for
	Apart   bool               // no node may use all of the volumes
	Missing string             // places that are gone, down or cordoned
	Gone    bool               // a host name is wanted that no node has
	Nodes   string             // node by node
	Is      evidence.Answer
	facts   []report.Evidence
}

// Whole asks whether everything was read that can show another reason: nodes, volumes, what
// was said, and which drivers serve where.
func (c Conflict) Whole(x *snapshot.Index) evidence.Answer {
	return evidence.Resources(x, "/nodes", "/persistentvolumes", "/persistentvolumeclaims", "/pods", "/events", "storage.k8s.io/csinodes").Nothing()
}

// fit says what keeps a pod off one node, ignoring resources.
type fit struct {
	node    string
	place   string             // what its labels say of the keys that the volumes ask for
	volumes []*snapshot.Volume // whose node affinity excludes it
	placed  string             // why the pod itself may not run there; empty: it may
}

// NoNodeFits asks whether no node that was read satisfies both the volumes of a pod and the
// pod's own placement. A volume of a claim that has none yet stands for all that are free for it.
func NoNodeFits(x *snapshot.Index, pod *corev1.Pod, volumes []*snapshot.Volume) (Conflict, bool) {
	if OnlyPlace(x, pod) != nil || len(Left(x, pod, volumes)) > 0 {
		return Conflict{}, false // there is one, and it does not report (node-down), or something else keeps the pod waiting
	}
	var fits []fit
	left := false // a node that every volume allows
	for _, n := range x.Cluster.Nodes {
		f := fit{n.Name, placeOf(volumes, n), excludedBy(volumes, n), Excludes(pod, n)}
		left = left || len(f.volumes) == 0
		fits = append(fits, f)
	}
	bound := slices.DeleteFunc(slices.Clone(volumes), func(v *snapshot.Volume) bool { return affinity(v) == nil })
	if len(bound) == 0 || len(fits) == 0 {
		return Conflict{}, false // the pod's own placement excludes every node, whatever its volumes are
	}
	c := Conflict{Guilty: excluding(fits), Own: placementText(pod), Apart: len(bound) > 1 && !left, Nodes: perNode(fits)}
	c.Missing, c.Gone = missingPlaces(x, slices.DeleteFunc(slices.Clone(bound), stands)) // of many, one may be gone
	if len(c.Guilty) == 0 && !left {
		c.Guilty = bound // the volumes' places do not meet, or are gone
	}
	c.places(bound)
	if c.Own != "" {
		c.facts = append(c.facts, evidence.FromPod(pod, "spec", c.Own))
	}
	c.Is = evidence.Yes(c.facts...)
	return c, true
}

// Left are the nodes that satisfy both the volumes of a pod and the pod's own placement, ignoring resources.
func Left(x *snapshot.Index, pod *corev1.Pod, volumes []*snapshot.Volume) []*corev1.Node {
	return evidence.Keep(x.Cluster.Nodes, func(n *corev1.Node) bool { return len(excludedBy(volumes, n)) == 0 && Excludes(pod, n) == "" })
}

// PlacedPast asks whether a pod was put on a node without asking the scheduler, where its
// volumes may not be used: the kubelet refuses to mount them (NodeAffinity check). When the
// driver was asked to mount there lately, that check has passed. A label that no node has is
// not one by which the scheduler, or whoever put the pod there, chose: without the kubelet's word it proves nothing.
func PlacedPast(pl *evidence.Place, n *corev1.Node) (Conflict, bool) {
	c := Conflict{Guilty: excludedBy(pl.X.VolumesOfPod(pl.Pod), n)}
	tried := slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool {
		return t.Node == n.Name && t.Code != "" && t.Mounts() && !strings.Contains(t.Raw, "NodeAffinity")
	})
	said := pl.Texts.Say(func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "NodeAffinity") || strings.Contains(t.Raw, "matching NodeSelectorTerms")
	})
	if !said.Yes() {
		c.Guilty = slices.DeleteFunc(c.Guilty, func(v *snapshot.Volume) bool { return nowhereKnown(pl.X, v) })
	}
	if len(c.Guilty) == 0 || tried {
		return c, false
	}
	c.facts = append(c.facts, said.Facts()...)
	c.places(c.Guilty)
	c.Is = evidence.Yes(c.facts...)
	return c, true
}

// places says, and quotes, where volumes may be used.
func (c *Conflict) places(volumes []*snapshot.Volume) {
	var where []string
	c.Bound = volumes
	for _, v := range volumes {
		text := selectorText(affinity(v))
		if v.PV == nil {
			where = append(where, fmt.Sprintf("class %s lets volumes be made only where %s", v.Class.Name, text))
			c.facts = append(c.facts, evidence.FromAPI("StorageClass "+v.Class.Name, "allowedTopologies", text))
			continue
		}
		if stands(v) {
			where = append(where, fmt.Sprintf("the volumes that are free for claim %s/%s may be used only where %s", v.Claim.Namespace, v.Claim.Name, text))
			c.facts = append(c.facts, evidence.FromAPI("PersistentVolumes of class "+v.Class.Name, "spec.nodeAffinity.required", text))
			continue
		}
		where = append(where, fmt.Sprintf("volume %s may be used only where %s", v.PVName(), text))
		c.facts = append(c.facts, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.nodeAffinity.required", text))
	}
	c.Places = strings.Join(where, "; ")
}

// stands tells whether a volume stands for those that a claim without one may get.
func stands(v *snapshot.Volume) bool {
	return v.PV != nil && v.Claim != nil && v.Claim.Spec.VolumeName == "" && v.PV.Spec.ClaimRef == nil
}

// affinity is what a volume asks of the nodes that may use it: its own, and for one that is made
// when its pod has a node that of its class.
func affinity(v *snapshot.Volume) *corev1.NodeSelector {
	switch {
	case v.PV != nil && v.PV.Spec.NodeAffinity != nil:
		return v.PV.Spec.NodeAffinity.Required
	case v.PV == nil && v.Claim != nil && snapshot.BindsLate(v.Class):
		return topologies(v.Class.AllowedTopologies)
	}
	return nil
}

// topologies are the terms of a class as the scheduler compares them with a node's labels
// (MatchTopologySelectorTerms of k8s.io/component-helpers).
func topologies(terms []corev1.TopologySelectorTerm) *corev1.NodeSelector {
	if len(terms) == 0 {
		return nil
	}
	out := &corev1.NodeSelector{}
	for _, t := range terms {
		var all corev1.NodeSelectorTerm
		for _, e := range t.MatchLabelExpressions {
			all.MatchExpressions = append(all.MatchExpressions, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
		}
		out.NodeSelectorTerms = append(out.NodeSelectorTerms, all)
	}
	return out
}

// placeOf prints what a node's labels say of the keys that volumes ask for, unless it is
// only its name.
func placeOf(volumes []*snapshot.Volume, n *corev1.Node) string {
	var out []string
	for _, r := range wantedOf(volumes) {
		value := n.Labels[r.Key]
		value = cmp.Or(value, n.Labels[renamed[r.Key]])
		value = cmp.Or(value, "no label "+r.Key)
		if value != n.Name && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// wantedOf are the expressions of all terms of volumes' affinities.
func wantedOf(volumes []*snapshot.Volume) []corev1.NodeSelectorRequirement {
	var out []corev1.NodeSelectorRequirement
	for _, v := range volumes {
		if a := affinity(v); a != nil {
			for _, t := range a.NodeSelectorTerms {
				out = append(out, t.MatchExpressions...)
			}
		}
	}
	return out
}

// nowhereKnown tells whether no node has any of the labels that a volume's affinity asks for.
func nowhereKnown(x *snapshot.Index, v *snapshot.Volume) bool {
	return !slices.ContainsFunc(wantedOf([]*snapshot.Volume{v}), func(r corev1.NodeSelectorRequirement) bool {
		return slices.ContainsFunc(x.Cluster.Nodes, func(n *corev1.Node) bool { return n.Labels[r.Key] != "" || n.Labels[renamed[r.Key]] != "" })
	})
}

func excludedBy(volumes []*snapshot.Volume, n *corev1.Node) []*snapshot.Volume {
	return evidence.Keep(volumes, func(v *snapshot.Volume) bool { return !VolumeAllows(v, n) })
}

// excluding lists the volumes that exclude a node which the pod could use.
func excluding(fits []fit) []*snapshot.Volume {
	var out []*snapshot.Volume
	for _, f := range fits {
		if f.placed == "" {
			out = evidence.Once(out, f.volumes...)
		}
	}
	return out
}

// perNode explains the exclusion node by node, at most six of them.
func perNode(fits []fit) string {
	var out []string
	for _, f := range fits {
		why := evidence.Each(f.volumes, func(v *snapshot.Volume) string {
			if stands(v) {
				return "none of the free volumes"
			}
			return "volume " + v.PVName()
		})
		if f.placed != "" {
			why = append(why, f.placed)
		}
		out = append(out, f.node+f.place+": "+strings.Join(why, ", "))
	}
	const shown = 6
	if len(out) > shown {
		out = append(out[:shown], fmt.Sprintf("and %d more nodes", len(fits)-shown))
	}
	return strings.Join(out, "; ")
}
