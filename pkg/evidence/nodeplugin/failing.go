package nodeplugin

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Failing is a driver's plugin pod that does not serve its node.
type Failing struct {
	Driver string
	Plugin *corev1.Pod
	State  []evidence.Answer
}

// FailingOn finds the plugin pods that do not serve on a node, or on every node for an empty
// name, whether or not a volume of the driver is there. One that only starts is left out.
func FailingOn(x *snapshot.Index, on string) []Failing {
	var out []Failing
	for _, d := range x.Cluster.CSIDrivers {
		for _, pod := range x.DriverPods(d.Name) {
			n := pod.Spec.NodeName
			if n == "" || on != "" && n != on || x.DriverPodOn(d.Name, n) != pod || pod.DeletionTimestamp != nil || !pods.Finished(pod).No() || snapshot.PodServes(pod) || csi.Starting(x, pod) {
				continue
			}
			out = append(out, Failing{d.Name, pod, []evidence.Answer{evidence.Yes(pods.State(pod)).With(pods.LastWords(x, pod)), node.Ready(x, n), csi.Undisputed(x, d.Name).Nothing()}})
		}
	}
	slices.SortFunc(out, func(a, b Failing) int { return strings.Compare(a.Driver+a.Plugin.Name, b.Driver+b.Plugin.Name) })
	return out
}
