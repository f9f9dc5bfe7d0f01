package pods

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Excludes says why a pod may not run on a node, ignoring resources; empty: it may.
func Excludes(pod *corev1.Pod, n *corev1.Node) string {
	if n.Spec.Unschedulable && !tolerates(pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return "the node is cordoned"
	}
	for _, t := range n.Spec.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod, t) {
			return "taint " + t.Key + " is not tolerated"
		}
	}
	for _, k := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		if n.Labels[k] != pod.Spec.NodeSelector[k] {
			return "the pod's nodeSelector " + k + "=" + pod.Spec.NodeSelector[k]
		}
	}
	if a := required(pod); a != nil && !snapshot.NodeMatches(a, n) {
		return "the pod's node affinity " + selectorText(a)
	}
	return ""
}

func required(pod *corev1.Pod) *corev1.NodeSelector {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil {
		return nil
	}
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func tolerates(pod *corev1.Pod, t corev1.Taint) bool {
	for _, o := range pod.Spec.Tolerations {
		if o.Effect != "" && o.Effect != t.Effect {
			continue
		}
		switch {
		case o.Operator == corev1.TolerationOpExists && (o.Key == "" || o.Key == t.Key):
			return true
		case o.Operator != corev1.TolerationOpExists && o.Key == t.Key && o.Value == t.Value:
			return true
		}
	}
	return false
}

// placementText prints what the pod itself asks for.
func placementText(pod *corev1.Pod) string {
	out := evidence.Each(slices.Sorted(maps.Keys(pod.Spec.NodeSelector)), func(k string) string { return "nodeSelector " + k + "=" + pod.Spec.NodeSelector[k] })
	if a := required(pod); a != nil {
		out = append(out, "node affinity "+selectorText(a))
	}
	return strings.Join(out, ", ")
}

// selectorText prints a node selector: terms are alternatives.
func selectorText(s *corev1.NodeSelector) string {
	var terms []string
	for _, t := range s.NodeSelectorTerms {
		var all []string
		for _, r := range append(slices.Clone(t.MatchExpressions), t.MatchFields...) {
			text := fmt.Sprintf("%s %s", r.Key, strings.ToLower(string(r.Operator)))
			if len(r.Values) > 0 {
				text += " (" + strings.Join(r.Values, ", ") + ")"
			}
			all = append(all, text)
		}
		terms = append(terms, strings.Join(all, " and "))
	}
	return strings.Join(terms, " or ")
}

// renamed are the labels of zone and region under their old names: nodes and volumes
// of one cluster may carry different ones, and the scheduler takes them for the same
// (TranslateInTreePVToCSI of k8s.io/csi-translation-lib).
var renamed = map[string]string{
	corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	corev1.LabelTopologyZone: corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion: corev1.LabelFailureDomainBetaRegion,
}

// VolumeAllows tells whether the node affinity of a volume's PV admits a node, under the
// old and the new names of zones.
func VolumeAllows(v *snapshot.Volume, n *corev1.Node) bool {
	a := affinity(v)
	if a == nil {
		return true
	}
	both := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: maps.Clone(n.Labels)}}
	for k, v := range n.Labels {
		if other := renamed[k]; other != "" && n.Labels[other] == "" {
			both.Labels[other] = v
		}
	}
	return snapshot.NodeMatches(a, both)
}
