package around_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
)

func TestSidecarIn(t *testing.T) {
	t.Parallel()
	pod := func(containers ...corev1.Container) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: containers}}
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"as the CSI project calls it": {pod(corev1.Container{Name: "driver"}, corev1.Container{Name: "csi-attacher"}), "csi-attacher"},
		"without the prefix":          {pod(corev1.Container{Name: "attacher", Image: "registry.k8s.io/sig-storage/csi-attacher:v4.8.0"}, corev1.Container{Name: "driver"}), "attacher"},
		"by its image":                {pod(corev1.Container{Name: "driver"}, corev1.Container{Name: "a", Image: "registry.k8s.io/sig-storage/csi-attacher:v4.8.0"}), "a"},
		"nowhere":                     {pod(corev1.Container{Name: "driver"}), "csi-attacher"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := around.SidecarIn(c.pod, "csi-attacher"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
