package collect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// widenAwaited: a driver that mounts through a pod of its own names it in what it tells the kubelet, and
// nothing else leads there. The newest name that was not read yet is.
func (c *collector) widenAwaited(x *snapshot.Index, volumes []*snapshot.Volume) {
	read := func(name string) bool {
		return slices.ContainsFunc(x.Cluster.Pods, func(p *corev1.Pod) bool { return p.Name == name })
	}
	for _, v := range volumes {
		for _, w := range v.Waiting() {
			for _, e := range slices.Backward(x.Events("Pod", w.Pod.Namespace, w.Pod.Name)) {
				names := slices.DeleteFunc(snapshot.PodsNamed(e.Message), read)
				if e.Reason == "FailedMount" && len(names) > 0 {
					c.want(want{res: pods, fields: "metadata.name=" + names[0]})
					return
				}
			}
		}
	}
}
