package collect

import (
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// near are the nodes that have, had or want a volume of the question.
func (c *collector) near(x *snapshot.Index, volumes []*snapshot.Volume) []string {
	var out []string
	add := func(n string) {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	switch c.q.Kind {
	case "node":
		return []string{c.q.Name}
	case "pod":
		if pod := x.Pod(c.q.Namespace, c.q.Name); pod != nil {
			add(pod.Spec.NodeName)
		}
	}
	for _, v := range volumes {
		for _, n := range slices.Concat(x.DeviceNodes(v), x.OtherNodes(v), affinityNodes(v.PV)) {
			add(n)
		}
		for _, n := range longhornNodes(v) {
			add(n)
		}
		if v.Claim != nil {
			add(v.Claim.Annotations[selectedNode])
		}
	}
	sort.Strings(out)
	return out
}

// selectedNode is where the scheduler wants a volume that waits for its first
// consumer (pkg/scheduler/framework/plugins/volumebinding of Kubernetes).
const selectedNode = "volume.kubernetes.io/selected-node"

// affinityNodes are the nodes that a local volume is bound to by name.
func affinityNodes(pv *corev1.PersistentVolume) []string {
	if pv == nil || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var out []string
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range slices.Concat(term.MatchExpressions, term.MatchFields) {
			if e.Operator == corev1.NodeSelectorOpIn && (e.Key == corev1.LabelHostname || e.Key == "metadata.name" || isHostKey(e.Key)) {
				out = append(out, e.Values...)
			}
		}
	}
	return out
}
