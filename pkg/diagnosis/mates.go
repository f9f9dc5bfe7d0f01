package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ofMates tells whether something is wrong only for others who share a volume with the asked pod, and whether it names one
// of them: the asked one is Ready, what is wrong lies on nodes where such others live, and neither the pod nor the machine
// that serves its share is among those that it is about. What is left of the volume where nobody uses it is no mate's: it
// may be what the pod suffers from.
func (p *Pass) ofMates(k *Keys) (is, named bool) {
	if p.Question.Kind != "pod" || len(k.at.list) == 0 {
		return false, false
	}
	pod := p.Pod(p.Question.Namespace, p.Question.Name)
	if pod == nil || !snapshot.PodServes(pod) || k.objects.has("pod/"+pod.Namespace+"/"+pod.Name) {
		return false, false
	}
	near, far := []string{pod.Spec.NodeName}, []string{}
	for _, v := range p.Volumes() {
		if v.RegularRWX() || v.Exclusive() {
			near = evidence.Once(near, p.DeviceNodes(v)...)
		}
		for _, c := range v.Live() {
			if c.Pod != pod {
				far, named = evidence.Once(far, c.Node()), named || k.objects.has("pod/"+c.Pod.Namespace+"/"+c.Pod.Name)
			}
		}
	}
	return !slices.ContainsFunc(k.at.list, func(n string) bool { return slices.Contains(near, n) || !slices.Contains(far, n) }) &&
		!slices.ContainsFunc(k.objects.list, func(o string) bool { return strings.HasPrefix(o, "device/"+pod.Spec.NodeName+"/") }), named
}
