package snapshot

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// WhyNotScheduled names the first thing that keeps a DaemonSet off a node: a
// taint, the node selector, or the required node affinity. ok is false when
// nothing does, or when the node is not known.
func (x *Index) WhyNotScheduled(ds *appsv1.DaemonSet, node string) (reason string, ok bool) {
	n := x.Node(node)
	if ds == nil || n == nil {
		return "", false
	}
	spec := &ds.Spec.Template.Spec
	return whyNot(spec, n, func(t *corev1.Taint) bool { return toleratesAsDaemon(spec, t) })
}

// WhyPodNotOn names the first thing that keeps a pod of its own off a node: a taint, its
// node selector, or its required node affinity.
func WhyPodNotOn(spec *corev1.PodSpec, n *corev1.Node) (reason string, ok bool) {
	return whyNot(spec, n, func(t *corev1.Taint) bool {
		return slices.ContainsFunc(spec.Tolerations, func(o corev1.Toleration) bool { return tolerates(&o, t) })
	})
}

func whyNot(spec *corev1.PodSpec, n *corev1.Node, tolerated func(*corev1.Taint) bool) (reason string, ok bool) {
	node := n.Name
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(t) {
			return fmt.Sprintf("taint %s of node %s is not tolerated", taintText(t), node), true
		}
	}
	keys := make([]string, 0, len(spec.NodeSelector))
	for k := range spec.NodeSelector {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		have, exists := n.Labels[k]
		if !exists {
			return fmt.Sprintf("node %s has no label %s, nodeSelector wants %s", node, k, spec.NodeSelector[k]), true
		}
		if have != spec.NodeSelector[k] {
			return fmt.Sprintf("label %s of node %s is %s, nodeSelector wants %s", k, node, have, spec.NodeSelector[k]), true
		}
	}
	return affinityMismatch(spec, n)
}

func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// daemonTolerations are the NoSchedule taints that the DaemonSet controller
// tolerates in every pod (AddOrUpdateDaemonPodTolerations in
// pkg/controller/daemon/util); not-ready and unreachable only as NoExecute.
var daemonTolerations = []string{
	corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure,
	corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable,
}

func toleratesAsDaemon(spec *corev1.PodSpec, t *corev1.Taint) bool {
	for i := range spec.Tolerations {
		if tolerates(&spec.Tolerations[i], t) {
			return true
		}
	}
	if t.Effect == corev1.TaintEffectNoExecute {
		return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
	}
	return slices.Contains(daemonTolerations, t.Key) || (spec.HostNetwork && t.Key == corev1.TaintNodeNetworkUnavailable)
}

// tolerates follows Toleration.ToleratesTaint of k8s.io/api.
func tolerates(o *corev1.Toleration, t *corev1.Taint) bool {
	if o.Effect != "" && o.Effect != t.Effect {
		return false
	}
	if o.Key != "" && o.Key != t.Key {
		return false
	}
	if o.Operator == corev1.TolerationOpExists {
		return true
	}
	return o.Key != "" && o.Value == t.Value
}

func affinityMismatch(spec *corev1.PodSpec, n *corev1.Node) (string, bool) {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return "", false
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		return "", false
	}
	first := ""
	for _, term := range required.NodeSelectorTerms {
		why := termMismatch(term, n)
		if why == "" {
			return "", false
		}
		if first == "" {
			first = why
		}
	}
	return first, true
}

// NodeMatches tells whether a node satisfies one of the terms of a selector, as
// in required node affinity and in the nodeAffinity of a PV.
func NodeMatches(selector *corev1.NodeSelector, n *corev1.Node) bool {
	if selector == nil || n == nil {
		return selector == nil
	}
	return slices.ContainsFunc(selector.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return termMismatch(t, n) == ""
	})
}

// termMismatch names the first requirement of a term that a node misses.
func termMismatch(term corev1.NodeSelectorTerm, n *corev1.Node) string {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return "an empty node affinity term matches no node"
	}
	for _, r := range term.MatchExpressions {
		have, exists := n.Labels[r.Key]
		if !meets(r, have, exists) {
			return fmt.Sprintf("node %s misses the required affinity %s", n.Name, requirementText(r))
		}
	}
	for _, r := range term.MatchFields {
		if r.Key == "metadata.name" && !meets(r, n.Name, true) {
			return fmt.Sprintf("node %s misses the required affinity %s", n.Name, requirementText(r))
		}
	}
	return ""
}

func requirementText(r corev1.NodeSelectorRequirement) string {
	if len(r.Values) == 0 {
		return r.Key + " " + string(r.Operator)
	}
	return r.Key + " " + string(r.Operator) + " (" + strings.Join(r.Values, ", ") + ")"
}

func meets(r corev1.NodeSelectorRequirement, have string, exists bool) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return exists && slices.Contains(r.Values, have)
	case corev1.NodeSelectorOpNotIn:
		return !exists || !slices.Contains(r.Values, have)
	case corev1.NodeSelectorOpExists:
		return exists
	case corev1.NodeSelectorOpDoesNotExist:
		return !exists
	}
	if !exists || len(r.Values) != 1 {
		return false
	}
	a, errA := strconv.ParseInt(have, 10, 64)
	b, errB := strconv.ParseInt(r.Values[0], 10, 64)
	if errA != nil || errB != nil {
		return false
	}
	if r.Operator == corev1.NodeSelectorOpGt {
		return a > b
	}
	return a < b
}

func decimal(n int32) string { return strconv.Itoa(int(n)) }
