package pods

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Nested says of a runtime's words that the place of one mount of a container lies inside another that it has read-only
// and that lacks the directory, or the file: runc makes it first (createMountpoint in libcontainer/rootfs_linux.go).
func Nested(pod *corev1.Pod, t evidence.Text) string {
	if !strings.Contains(strings.ToLower(t.Raw), "read-only file system") {
		return ""
	}
	for c := range snapshot.Containers(pod) {
		for _, inner := range c.VolumeMounts {
			for _, outer := range c.VolumeMounts {
				if inner.MountPath != outer.MountPath && probes.Within(inner.MountPath, outer.MountPath) && closed(pod, outer) && speaksOf(t.Raw, inner.MountPath) {
					return fmt.Sprintf("Container %s has volume %s at %s, inside volume %s, which it has read-only and which lacks that place: the runtime cannot make it. Make it on the volume, or mount %s elsewhere.",
						c.Name, inner.Name, inner.MountPath, outer.Name, inner.Name)
				}
			}
		}
	}
	return ""
}

// speaksOf tells whether a text names a path as a whole: that of a container, below its root on the node, or without the
// first slash (crun).
func speaksOf(text, path string) bool {
	before, rest, found := strings.Cut(text, strings.Trim(path, "/"))
	return found && (before == "" || strings.HasSuffix(before, "/") || strings.HasSuffix(before, "`")) && (rest == "" || strings.ContainsAny(rest[:1], "/:\"'` "))
}

// closed tells whether a container has a volume read-only: it says so, the pod does of its claim, or the kubelet makes
// it of an object of the API.
func closed(pod *corev1.Pod, m corev1.VolumeMount) bool {
	if m.ReadOnly {
		return true
	}
	for _, v := range pod.Spec.Volumes {
		if v.Name == m.Name {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly || v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
		}
	}
	return false
}
