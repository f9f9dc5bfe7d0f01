package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Inside tells whether the words of a pod that uses a volume are about a path in it: one
// at or below the place at which a container has the volume.
func Inside(v *snapshot.Volume, t evidence.Text) bool {
	return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
		if t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || t.Source == "event" {
			return false
		}
		return snapshot.AnyContainer(c.Pod, func(k *corev1.Container) bool {
			return slices.ContainsFunc(k.VolumeMounts, func(m corev1.VolumeMount) bool {
				dir := strings.TrimSuffix(m.MountPath, "/")
				return m.Name == c.Volume && dir != "" && slices.ContainsFunc(named(t), func(p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") })
			})
		})
	})
}

// Outside tells whether the words of a pod's log name paths, and none is in the volume.
func Outside(v *snapshot.Volume, t evidence.Text) bool {
	return t.Source == "log" && len(named(t)) > 0 && !Inside(v, t)
}

var absolute = pattern.MustCompile("(?:^|[\\s\"'`=(:\\[,])(/[\\w./+@%~-]*\\w)")

// named are the absolute paths in a text.
func named(t evidence.Text) []string {
	return evidence.Each(absolute.FindAllStringSubmatch(t.Raw, -1), func(m []string) string { return m[1] })
}
