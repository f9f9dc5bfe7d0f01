package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ofMates tells whether something is wrong only for others who share a volume with the asked pod, as far as that has no
// symptom of its own: it is Ready, what is wrong lies on other nodes, and neither the pod nor the machine that serves its share is among those that it
// is about.
func (p *Pass) ofMates(k *Keys) bool {
	if p.Question.Kind != "pod" || len(k.at.list) == 0 {
		return false
	}
	pod := p.Pod(p.Question.Namespace, p.Question.Name)
	if pod == nil || !snapshot.PodServes(pod) || k.objects.has("pod/"+pod.Namespace+"/"+pod.Name) {
		return false
	}
	near := []string{pod.Spec.NodeName}
	for _, v := range p.Volumes() {
		if v.RegularRWX() || v.Exclusive() {
			near = evidence.Once(near, p.DeviceNodes(v)...)
		}
	}
	return !slices.ContainsFunc(k.at.list, func(n string) bool { return slices.Contains(near, n) }) &&
		!slices.ContainsFunc(k.objects.list, func(o string) bool { return strings.HasPrefix(o, "device/"+pod.Spec.NodeName+"/") })
}
