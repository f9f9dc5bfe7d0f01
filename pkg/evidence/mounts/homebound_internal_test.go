package mounts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestHomebound: a disk is of one node alone when each term of its affinity says so; one term is enough to use it.
func TestHomebound(t *testing.T) {
	t.Parallel()
	term := func(op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: op, Values: values}}}
	}
	in := corev1.NodeSelectorOpIn
	local := corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/a"}}
	csi := corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}}
	for name, c := range map[string]struct {
		source corev1.PersistentVolumeSource
		terms  []corev1.NodeSelectorTerm
		reused bool
		want   bool
	}{
		"this node":                    {csi, []corev1.NodeSelectorTerm{term(in, "n1")}, false, true},
		"this node, or another":        {csi, []corev1.NodeSelectorTerm{term(in, "n1"), term(in, "n2")}, false, false},
		"this node, or another, named": {csi, []corev1.NodeSelectorTerm{term(in, "n1", "n2")}, false, false},
		"another node":                 {csi, []corev1.NodeSelectorTerm{term(in, "n2")}, false, false},
		"any but this node":            {csi, []corev1.NodeSelectorTerm{term(corev1.NodeSelectorOpNotIn, "n1")}, false, false},
		"a path, of which node is not": {local, nil, false, true},
		"a disk of any node":           {csi, nil, false, false},
		"its number has a new disk":    {csi, []corev1.NodeSelectorTerm{term(in, "n1")}, true, false},
	} {
		pv := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: c.source}}
		if c.terms != nil {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}
		}
		d := DeadMount{Volume: &snapshot.Volume{PV: pv}, Reused: c.reused, view: &snapshot.NodeView{Name: "n1"}}
		if got := d.Homebound(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
