package nodeplugin

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// shared are namespaces in which pods of a node have nothing to do with each other.
var shared = []string{"kube-system", "default"}

// Beside are the pods of a node's own in a driver's own namespace that end again and again, or cannot be made, on a
// node of its plugin: a satellite, a pool, who loads a kernel module. That of another driver which shares the namespace serves that one.
func Beside(x *snapshot.Index, driver, node string) []*corev1.Pod {
	plugin := x.DriverPodOn(driver, node)
	if plugin == nil || slices.Contains(shared, plugin.Namespace) {
		return nil
	}
	var out []*corev1.Pod
	for _, p := range x.PodsOn(node) {
		if p.Namespace == plugin.Namespace && Backs(p) && pods.Hindrance(p) != "" && !slices.ContainsFunc(x.Drivers(), func(d string) bool { return x.DriverPodOn(d, node) == p }) {
			out = append(out, p)
		}
	}
	return out
}

// Backs tells whether a pod that a volume waits for is none of its own: a DaemonSet made it, or an operator for the node
// (a LinstorSatellite owns its pod).
func Backs(p *corev1.Pod) bool {
	o := metav1.GetControllerOf(p)
	return o != nil && (o.Kind == "DaemonSet" || o.Kind == "LinstorSatellite")
}
