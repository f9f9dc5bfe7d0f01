package security

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// deaf: a sidecar, or the probe of the driver's health, may not connect to the driver's socket, and a
// pod that would use it does not serve. The line has the path as the containers see it, which is
// that of every driver: no pod of another one may have it.
func (l Line) deaf(pl *evidence.Place) *corev1.Pod {
	plugin := pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	if plugin == nil || l.fields["tclass"] != "unix_stream_socket" || !slices.Contains(l.perms, "connectto") {
		return nil
	}
	var out *corev1.Pod
	for _, pod := range pl.X.PodsOn(pl.Node) {
		if !mountsDirectory(pod, path.Dir(l.fields["path"])) {
			continue
		}
		if pod.Namespace != plugin.Namespace {
			return nil
		}
		if !snapshot.PodServes(pod) && (out == nil || pod == plugin) {
			out = pod
		}
	}
	return out
}

func mountsDirectory(pod *corev1.Pod, dir string) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return dir != "/" && path.Clean(m.MountPath) == dir })
	})
}
