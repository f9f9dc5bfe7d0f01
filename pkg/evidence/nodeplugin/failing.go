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
	Driver  string
	Plugin  *corev1.Pod
	State   []evidence.Answer
	Unknown bool // the pod serves, and the kubelet does not know the driver
}

// FailingOn finds the plugin pods that do not serve on a node, or on every node for an empty
// name, whether or not a volume of the driver is there. One that only starts is left out.
func FailingOn(x *snapshot.Index, on string) []Failing {
	var out []Failing
	for _, d := range x.Cluster.CSIDrivers {
		for _, pod := range x.DriverPods(d.Name) {
			n := pod.Spec.NodeName
			if n == "" || on != "" && n != on || x.DriverPodOn(d.Name, n) != pod || pod.DeletionTimestamp != nil || !pods.Finished(pod).No() || csi.Starting(x, pod) {
				continue
			}
			f := Failing{Driver: d.Name, Plugin: pod, State: []evidence.Answer{evidence.Yes(pods.State(pod)).With(pods.LastWords(x, pod)), node.Ready(x, n), csi.Undisputed(x, d.Name).Nothing()}}
			if snapshot.PodServes(pod) {
				unknown := csi.Unknown(evidence.NodePlace(x, n), d.Name)
				if !unknown.Yes() || !csi.ListedElsewhere(x, n, d.Name) {
					continue
				}
				f.State[0], f.Unknown = unknown.With(pods.State(pod)), true
			}
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Failing) int { return strings.Compare(a.Driver+a.Plugin.Name, b.Driver+b.Plugin.Name) })
	return out
}
