package remedy

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestStaff: who was found out to keep the pods of a controller from being made is not looked for again.
func TestStaff(t *testing.T) {
	t.Parallel()
	none, one := int32(0), int32(1)
	of := func(wants *int32) snapshot.Owner {
		return snapshot.Owner{Kind: "Deployment", Namespace: "csi", Name: "controller", Object: &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: wants}}}
	}
	set := snapshot.Owner{Kind: "StatefulSet", Namespace: "csi", Name: "controller", Object: &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: &one}}}
	for name, tt := range map[string]struct {
		w       snapshot.Owner
		refused bool
		want    string
	}{
		"scaled to 0":                {of(&none), false, "Scale Deployment csi/controller up again"},
		"scaled to 0, refused then":  {of(&none), true, "Scale Deployment csi/controller up again"},
		"its pods are refused":       {of(&one), true, "what refuses them is quoted"},
		"nobody knows":               {of(&one), false, "and of its ReplicaSet: they say why"},
		"a set has no ReplicaSet":    {set, false, "Read the events of StatefulSet csi/controller: they say why"},
		"the pods of a set, refused": {set, true, "Let the pods of StatefulSet csi/controller into their namespace"},
	} {
		if got := Staff(tt.w, tt.refused).Title; !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
