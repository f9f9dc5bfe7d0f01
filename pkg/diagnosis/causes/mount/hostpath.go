package mount

import (
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// graceOver is how long after its end a pod may still linger without meaning.
const graceOver = time.Minute

// privateHostMount finds a hostPath of the pod that covers the directory and does
// not receive later mounts and unmounts (mountPropagation None or absent).
func privateHostMount(pod *corev1.Pod, dir string) (hostPath, mountPath string) {
	for _, v := range pod.Spec.Volumes {
		if v.HostPath == nil || !covers(v.HostPath.Path, dir) {
			continue
		}
		for _, c := range pod.Spec.Containers {
			for _, m := range c.VolumeMounts {
				if m.Name == v.Name && (m.MountPropagation == nil || *m.MountPropagation == corev1.MountPropagationNone) {
					return v.HostPath.Path, m.MountPath
				}
			}
		}
	}
	return "", ""
}

// covers tells whether dir is the path or lies below it.
func covers(above, dir string) bool {
	above, dir = path.Clean("/"+above), path.Clean("/"+dir)
	return above == "/" || above == dir || strings.HasPrefix(dir, above+"/")
}

// kubeletRoot is R of a node: of its recording, else of what a storage plugin
// there mounts from the host, else the default.
func kubeletRoot(p *diagnosis.Pass, node string) string {
	if v := p.View(node); v != nil {
		return v.KubeletRoot()
	}
	for _, pod := range p.PodsOn(node) {
		for _, v := range pod.Spec.Volumes {
			if v.HostPath == nil {
				continue
			}
			for _, tail := range []string{"/plugins/kubernetes.io/csi", "/plugins_registry"} {
				if root, ok := strings.CutSuffix(path.Clean(v.HostPath.Path), tail); ok && root != "" {
					return root
				}
			}
		}
	}
	return "/var/lib/kubelet"
}

// startedAt is when the first container of a pod that mounts the directory
// privately began to run: the moment at which its mounts were copied.
func startedAt(pod *corev1.Pod, dir string) time.Time {
	var t time.Time
	for _, s := range pod.Status.ContainerStatuses {
		if !slices.Contains(privateContainers(pod, dir), s.Name) {
			continue
		}
		if r := s.State.Running; r != nil && (t.IsZero() || r.StartedAt.Time.Before(t)) {
			t = r.StartedAt.Time
		}
	}
	return t
}

// privateContainers are the containers that mount the directory from the host
// without propagation.
func privateContainers(pod *corev1.Pod, dir string) []string {
	var out []string
	for _, c := range pod.Spec.Containers {
		one := &corev1.Pod{Spec: corev1.PodSpec{Volumes: pod.Spec.Volumes, Containers: []corev1.Container{c}}}
		if host, _ := privateHostMount(one, dir); host != "" {
			out = append(out, c.Name)
		}
	}
	return out
}
