package diagnosis

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ofPod is the volume of a pod itself (of a Secret, a ConfigMap, a token, a directory of the node)
// of which the kubelet last said that it cannot be set up, or pull its image. It has no PersistentVolume.
func (z puzzle) ofPod() (volume, source string, ok bool) {
	pod := z.p.Pod(z.s.Subject.Namespace, z.s.Subject.Name)
	if z.volume != nil || z.s.Subject.Kind != "Pod" || pod == nil {
		return "", "", false
	}
	said := z.p.PodTexts(pod)
	newest := slices.IndexFunc(said, func(t Text) bool { return t.Spec != "" && (t.Reason == "FailedMount" || t.Source == "api") })
	if newest < 0 {
		return "", "", false
	}
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == said[newest].Spec })
	if i < 0 {
		return "", "", false
	}
	v := pod.Spec.Volumes[i]
	switch {
	case v.Secret != nil:
		source = "Secret " + v.Secret.SecretName
	case v.ConfigMap != nil:
		source = "ConfigMap " + v.ConfigMap.Name
	case v.Projected != nil:
		source = "projected"
	case v.DownwardAPI != nil:
		source = "downwardAPI"
	case v.EmptyDir != nil:
		source = "emptyDir"
	case v.HostPath != nil:
		source = v.HostPath.Path + " of the node"
	case v.Image != nil:
		source = "image " + v.Image.Reference
	}
	return v.Name, source, source != ""
}

// looksAtPod shows what no volume is behind, and what the kubelet says of a volume of the pod itself.
func (z puzzle) looksAtPod() []report.Remedy {
	var out []report.Remedy
	if look, ok := remedy.Show(z.p.Index, z.s.Subject, z.s.Evidence); ok {
		r, _ := look.Decide(z.p.Index)
		out = append(out, r)
	}
	if _, _, own := z.ofPod(); own && z.node != "" && !z.dark() {
		if r, ok := remedy.Check("The kubelet's words.", remedy.KubeletLog(z.node)).Decide(z.p.Index); ok {
			out = append(out, r)
		}
	}
	return out
}
