package nodeplugin

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// onlyNodesFor lists the nodes that an unscheduled pod itself allows (selector, affinity
// and tolerations) when all of them lack a label which the volume's node affinity wants:
// such labels are set by the kubelet when the driver registers.
func onlyNodesFor(x *snapshot.Index, v *snapshot.Volume, pod *corev1.Pod) []string {
	if n := snapshot.ChosenNode(v.Claim); n != "" && v.PV == nil {
		return []string{n}
	}
	keys := affinityKeys(v.PV)
	if len(keys) == 0 || !saysConflict(x, pod) {
		return nil
	}
	var out, right []string
	labelled := false
	for _, n := range x.Cluster.Nodes {
		if !x.NodeReady(n.Name).Ready || pods.Excludes(pod, n) != "" {
			continue
		}
		if !slices.ContainsFunc(keys, func(k string) bool { _, ok := n.Labels[k]; return !ok }) {
			if snapshot.NodeMatches(v.PV.Spec.NodeAffinity.Required, n) {
				return nil // the volume may be used there: something else is in the way
			}
			labelled = true
			continue
		}
		out = append(out, n.Name)
		if inZone(v, n) || !zoned(n) {
			right = append(right, n.Name)
		}
	}
	if labelled {
		return right // where others have the labels, only a node in the volume's own zone counts
	}
	return out
}

// inZone tells whether a node's own zone or region is one that the volume asks for under
// its driver's label.
func inZone(v *snapshot.Volume, n *corev1.Node) bool {
	for _, t := range v.PV.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			for _, k := range []string{corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion, corev1.LabelHostname} {
				if have := n.Labels[k]; e.Operator == corev1.NodeSelectorOpIn && have != "" && slices.Contains(e.Values, have) {
					return true
				}
			}
		}
	}
	return false
}

// zoned tells whether a node says at all in which zone it is.
func zoned(n *corev1.Node) bool {
	return n.Labels[corev1.LabelTopologyZone] != "" || n.Labels[corev1.LabelFailureDomainBetaZone] != ""
}

// affinityKeys are the labels that a volume's node affinity asks for.
func affinityKeys(pv *corev1.PersistentVolume) []string {
	if pv == nil || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var out []string
	for _, t := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			out = evidence.Once(out, e.Key)
		}
	}
	return out
}

// saysConflict tells whether the scheduler turned the pod down for the volume's place;
// without any word of it (events expire) the labels decide alone.
func saysConflict(x *snapshot.Index, pod *corev1.Pod) bool {
	texts := []string{}
	if why, ok := pods.Unscheduled(pod); ok {
		texts = append(texts, why)
	}
	for _, e := range x.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "FailedScheduling" {
			texts = append(texts, e.Message)
		}
	}
	return len(texts) == 0 || slices.ContainsFunc(texts, conflict)
}

// conflict recognises the scheduler's words, which changed with 1.33 (ErrReasonConflict in
// volumebinding/binder.go).
func conflict(s string) bool {
	return strings.Contains(s, "volume node affinity conflict") || strings.Contains(s, "match PersistentVolume's node affinity")
}
