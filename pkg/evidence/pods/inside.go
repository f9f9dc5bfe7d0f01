package pods

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Inside tells whether the words of a pod that uses a volume are about a path in it: one
// at or below the place at which a container has the volume.
func Inside(v *snapshot.Volume, t evidence.Text) bool { return holds(v, t, named(t)) }

func holds(v *snapshot.Volume, t evidence.Text, paths []string) bool {
	return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
		if t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || t.Source == "event" {
			return false
		}
		return snapshot.AnyContainer(c.Pod, func(k *corev1.Container) bool {
			return slices.ContainsFunc(k.VolumeMounts, func(m corev1.VolumeMount) bool {
				return m.Name == c.Volume && m.MountPath != "/" && slices.ContainsFunc(paths, func(p string) bool { return probes.Within(p, m.MountPath) })
			})
		})
	})
}

// Outside tells whether the words of a pod's log name paths, and none is in the volume.
func Outside(v *snapshot.Volume, t evidence.Text) bool {
	return t.Source == "log" && len(named(t)) > 0 && !Inside(v, t)
}

// unwritable is the path of which an application's log says that it cannot be written, as the
// languages write an error of the kernel: before its words, or quoted behind them.
var unwritable = pattern.MustCompile("(/[\\w./+@%~-]*\\w)[\"'`]?:? (?i:read-only file ?system|no space left on device|disk quota exceeded)|(?i:read-only file ?system|no space left on device|disk quota exceeded): [\"'`](/[\\w./+@%~-]*\\w)[\"'`]")

// Elsewhere tells whether a pod's log says so of a path that is not in the volume: the root
// of a container can be read-only or full by itself.
func Elsewhere(v *snapshot.Volume, t evidence.Text) bool {
	paths := evidence.Each(unwritable.FindAllStringSubmatch(t.Raw, -1), func(m []string) string { return m[1] + m[2] })
	return t.Source == "log" && len(paths) > 0 && !holds(v, t, paths)
}

var absolute = pattern.MustCompile("(?:^|[\\s\"'`=(:\\[,])(/[\\w./+@%~-]*\\w)")

// named are the absolute paths in a text.
func named(t evidence.Text) []string {
	return evidence.Each(absolute.FindAllStringSubmatch(t.Raw, -1), func(m []string) string { return m[1] })
}
