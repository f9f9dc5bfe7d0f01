package collect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mostAwaited is how many pods are read by a name that stands in an event.
const mostAwaited = 2

// widenAwaited: a driver that mounts through a pod of its own names it in what it tells the kubelet, and
// nothing else leads there.
func (c *collector) widenAwaited(x *snapshot.Index, volumes []*snapshot.Volume) {
	var names []string
	for _, v := range volumes {
		for _, w := range v.Waiting() {
			for _, e := range x.Events("Pod", w.Pod.Namespace, w.Pod.Name) {
				if e.Reason == "FailedMount" {
					names = append(names, snapshot.PodsNamed(e.Message)...)
				}
			}
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return slices.ContainsFunc(x.Cluster.Pods, func(p *corev1.Pod) bool { return p.Name == name })
	})
	for _, name := range names[:min(len(names), mostAwaited)] {
		c.want(want{res: pods, fields: "metadata.name=" + name})
	}
}
