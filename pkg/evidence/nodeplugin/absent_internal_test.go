package nodeplugin

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestMeantFor: a pod of a DaemonSet that has no node yet is one node's by the name that it is pinned by.
func TestMeantFor(t *testing.T) {
	t.Parallel()
	pinned := func(key string, nodes ...string) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchFields: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: nodes}}}}}}}
	}
	for name, c := range map[string]struct {
		affinity *corev1.Affinity
		want     bool
	}{
		"nothing pins it":         {nil, false},
		"it is only preferred":    {&corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, false},
		"its own node":            {pinned("metadata.name", "n1"), true},
		"another node":            {pinned("metadata.name", "n2"), false},
		"a field that is no name": {pinned("spec.unschedulable", "n1"), false},
	} {
		if got := meantFor(&corev1.Pod{Spec: corev1.PodSpec{Affinity: c.affinity}}, "n1"); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
