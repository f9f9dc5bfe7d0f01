package attach

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// selectedNode is the scheduler's choice for a claim that waits for its consumer.
const selectedNode = "volume.kubernetes.io/selected-node"

// onlyNodesFor lists the nodes that an unscheduled pod itself allows (selector,
// affinity and tolerations) when all of them lack a label which the volume's node
// affinity wants: such labels are set by the kubelet when the driver registers.
func onlyNodesFor(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod) []string {
	if v.Claim != nil {
		if n := v.Claim.Annotations[selectedNode]; n != "" && v.PV == nil {
			return []string{n}
		}
	}
	keys := affinityKeys(v.PV)
	if len(keys) == 0 || !saysAffinityConflict(p, pod) {
		return nil
	}
	var out, right []string
	labelled := false
	for _, n := range p.Cluster.Nodes {
		if n.Spec.Unschedulable || !p.NodeReady(n.Name).Ready || !podAllows(pod, n) {
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
			if !slices.Contains(out, e.Key) {
				out = append(out, e.Key)
			}
		}
	}
	return out
}

// saysAffinityConflict tells whether the scheduler turned the pod down for the
// volume's place; without any word of it (events expire) the labels decide alone.
func saysAffinityConflict(p *diagnosis.Pass, pod *corev1.Pod) bool {
	texts := []string{}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			texts = append(texts, c.Message)
		}
	}
	for _, e := range p.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "FailedScheduling" {
			texts = append(texts, e.Message)
		}
	}
	return len(texts) == 0 || slices.ContainsFunc(texts, func(s string) bool {
		// Since 1.33 the scheduler says it otherwise (ErrReasonConflict in volumebinding/binder.go).
		return strings.Contains(s, "volume node affinity conflict") || strings.Contains(s, "match PersistentVolume's node affinity")
	})
}

// podAllows applies the pod's node selector, required node affinity and tolerations
// of NoSchedule and NoExecute taints.
func podAllows(pod *corev1.Pod, n *corev1.Node) bool {
	for k, want := range pod.Spec.NodeSelector {
		if n.Labels[k] != want {
			return false
		}
	}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		if r := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; r != nil &&
			!slices.ContainsFunc(r.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool { return termMatches(t, n) }) {
			return false
		}
	}
	for _, taint := range n.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod.Spec.Tolerations, taint) {
			return false
		}
	}
	return true
}

func termMatches(t corev1.NodeSelectorTerm, n *corev1.Node) bool {
	for _, e := range t.MatchExpressions {
		value, has := n.Labels[e.Key]
		var ok bool
		switch e.Operator {
		case corev1.NodeSelectorOpIn:
			ok = has && slices.Contains(e.Values, value)
		case corev1.NodeSelectorOpNotIn:
			ok = !has || !slices.Contains(e.Values, value)
		case corev1.NodeSelectorOpExists:
			ok = has
		case corev1.NodeSelectorOpDoesNotExist:
			ok = !has
		default:
			ok = true // Gt and Lt compare numbers; they exclude no node here
		}
		if !ok {
			return false
		}
	}
	for _, e := range t.MatchFields {
		if e.Key == "metadata.name" && (e.Operator == corev1.NodeSelectorOpIn) != slices.Contains(e.Values, n.Name) {
			return false
		}
	}
	return true
}

// tolerates follows Toleration.ToleratesTaint of k8s.io/api.
func tolerates(list []corev1.Toleration, taint corev1.Taint) bool {
	for i := range list {
		t := &list[i]
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		if t.Operator == corev1.TolerationOpExists || (t.Operator == "" || t.Operator == corev1.TolerationOpEqual) && t.Value == taint.Value && t.Key != "" {
			return true
		}
	}
	return false
}
