package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// TestNested: a runtime that cannot make a place says no more than "read-only file system"; what the pod asks for tells why.
func TestNested(t *testing.T) {
	t.Parallel()
	const (
		runc = `runc create failed: error mounting "/var/lib/kubelet/pods/1b/volumes/kubernetes.io~configmap/conf" to rootfs at "/data/conf": create mountpoint for /data/conf mount: make mountpoint "/data/conf": mkdirat /run/containerd/io.containerd.runtime.v2.task/k8s.io/app/rootfs/data/conf: read-only file system: unknown`
		crun = "container create failed: mkdir `data/conf`: Read-only file system"
	)
	with := func(data corev1.VolumeSource, mounts ...corev1.VolumeMount) *corev1.Pod {
		return pod("shop", "web", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: data}, {Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}}
			p.Spec.Containers[0].VolumeMounts = mounts
		})
	}
	claim := func(closed bool) corev1.VolumeSource {
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data", ReadOnly: closed}}
	}
	outer, conf := corev1.VolumeMount{Name: "data", MountPath: "/data"}, corev1.VolumeMount{Name: "conf", MountPath: "/data/conf"}
	shut := corev1.VolumeMount{Name: "data", MountPath: "/data", ReadOnly: true}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		text string
		want bool
	}{
		"the container has it read-only": {with(claim(false), shut, conf), runc, true},
		"the pod has":                    {with(claim(true), outer, conf), runc, true},
		"crun":                           {with(claim(true), conf, outer), crun, true},
		"inside a Secret":                {with(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}, outer, conf), runc, true},
		"it may write":                   {with(claim(false), outer, conf), runc, false}, // the filesystem itself is closed
		"beside it":                      {with(claim(true), outer, corev1.VolumeMount{Name: "conf", MountPath: "/database/conf"}), runc, false},
		"another path":                   {with(claim(true), outer, corev1.VolumeMount{Name: "conf", MountPath: "/data/con"}), runc, false},
		"another reason":                 {with(claim(true), outer, conf), strings.ReplaceAll(runc, "read-only file system", "no space left on device"), false},
	} {
		if got := Nested(c.pod, evidence.Text{Raw: c.text}); (got != "") != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
