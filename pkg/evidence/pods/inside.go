package pods

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Inside tells whether the words of a pod that uses a volume are about a path in it: one
// at or below the place at which a container has the volume.
func Inside(v *snapshot.Volume, t evidence.Text) bool { return holds(v, t, named(t), true) }

// holds tells whether a path is in the volume, or (not own) in another one that a container of the pod has.
func holds(v *snapshot.Volume, t evidence.Text, paths []string, own bool) bool {
	return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
		if t.Pod != c.Pod.Namespace+"/"+c.Pod.Name || t.Source == "event" {
			return false
		}
		return snapshot.AnyContainer(c.Pod, func(k *corev1.Container) bool {
			return slices.ContainsFunc(k.VolumeMounts, func(m corev1.VolumeMount) bool {
				return (m.Name == c.Volume) == own && m.MountPath != "/" && slices.ContainsFunc(paths, func(p string) bool { return probes.Within(p, m.MountPath) })
			})
		})
	})
}

// Outside tells whether the words of a pod's log name paths, and none is in the volume.
func Outside(v *snapshot.Volume, t evidence.Text) bool {
	return t.Source == "log" && len(named(t)) > 0 && !Inside(v, t)
}

const errno = "(?i:read-only file ?system|no space left on device|disk quota exceeded|input/output error|transport endpoint is not connected|stale (?:nfs )?file handle|no such device)"

// refused is the path of which an application's log says that it fails, as the languages write an error of the kernel:
// before its words, or quoted behind them. What a database names from its own directory on has no place.
var refused = pattern.MustCompile("(?:^|[\\s\"'`=(:\\[,])(/[\\w./+@%~-]*\\w)[\"'`]?:? " + errno + "|" + errno + ": [\"'`](/[\\w./+@%~-]*\\w)[\"'`]")

// peer is what an application talks to over the network, or the kernel's watches, of which each user has only so many
// (inotify(7): ENOSPC).
var peer = pattern.MustCompile(`(?i)\b(?:https?|s3|gs|redis|amqps?|wss?)://|\b(?:tcp|udp|unix|socket|peer|inotify)\b|\b\d+\.\d+\.\d+\.\d+:\d+\b`)

// Elsewhere tells whether a pod's log says so of a path that is not in the volume (the root of a container can be read-only
// or full by itself, a device of its own can fail), or of what is no file at all. No socket answers EIO or EROFS, whoever is
// named beside it; and a path of the image that answers EIO may be a link into the volume.
func Elsewhere(v *snapshot.Volume, t evidence.Text) bool {
	paths := evidence.Each(refused.FindAllStringSubmatch(t.Raw, -1), func(m []string) string { return m[1] + m[2] })
	fails := t.Is(message.InputOutputError)
	switch {
	case t.Source != "log" || holds(v, t, paths, true):
		return false
	case len(paths) > 0:
		return !fails || holds(v, t, paths, false) || !slices.ContainsFunc(paths, func(p string) bool {
			return !probes.Within(p, "/dev") && !probes.Within(p, "/proc") && !probes.Within(p, "/sys")
		})
	}
	return !fails && !t.Is(message.ReadOnlyFilesystem) && peer.MatchString(t.Raw) && !Inside(v, t)
}

var absolute = pattern.MustCompile("(?:^|[\\s\"'`=(:\\[,])(/[\\w./+@%~-]*\\w)")

// named are the absolute paths in a text.
func named(t evidence.Text) []string {
	return evidence.Each(absolute.FindAllStringSubmatch(t.Raw, -1), func(m []string) string { return m[1] })
}
