package snapshot

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// podSpecs are the specs of pods in an object; the annotations of a template go.
func podSpecs(o metav1.Object) []*corev1.PodSpec {
	if pod, ok := o.(*corev1.Pod); ok {
		return []*corev1.PodSpec{&pod.Spec}
	}
	if t := TemplateOf(o); t != nil {
		t.Annotations = nil
		return []*corev1.PodSpec{&t.Spec}
	}
	return nil
}

// trimContainers keeps the name of a program and drops what it was told, unless the
// pod is one of storage: then known options stay, with other values hidden.
func trimContainers(spec *corev1.PodSpec) {
	var all []*corev1.Container
	storage := false
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			all = append(all, &list[i])
			storage = storage || ofStorage(&list[i])
		}
	}
	for _, c := range all {
		if !storage {
			c.Args, c.Command = nil, c.Command[:min(1, len(c.Command))]
			continue
		}
		c.Command = mask.Args(c.Command)
		if len(c.Args) > 0 {
			c.Args = mask.Args(append([]string{""}, c.Args...))[1:]
		}
	}
}

// ofStorage tells whether a container is one of a CSI driver, of Longhorn or a
// kubelet: its whole pod is, then.
func ofStorage(c *corev1.Container) bool {
	for _, text := range []string{c.Name, c.Image} {
		for _, word := range []string{"csi", "longhorn", "kubelet"} {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}
