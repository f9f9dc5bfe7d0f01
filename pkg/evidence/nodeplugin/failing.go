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
	At      *evidence.Place // its node
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
			f := Failing{Driver: d.Name, Plugin: pod, At: evidence.NodePlace(x, n), State: state(x, pod, d.Name)}
			if snapshot.PodServes(pod) {
				unknown := csi.Unknown(f.At, d.Name)
				if !unknown.Yes() || !csi.ListedElsewhere(x, n, d.Name) {
					continue
				}
				f.State[0], f.Unknown = unknown.With(pods.State(pod)), true
			}
			out = append(out, f)
		}
	}
	sorted(out)
	return out
}

// BesideOn finds the pods beside plugins that serve, on a node or on every node for an empty name, which do not run.
// Longhorn's have causes of their own.
func BesideOn(x *snapshot.Index, on string) []Failing {
	var out []Failing
	for _, d := range x.Cluster.CSIDrivers {
		for _, plugin := range x.DriverPods(d.Name) {
			n := plugin.Spec.NodeName
			if d.Name == snapshot.LonghornDriver || n == "" || on != "" && n != on || !snapshot.PodServes(plugin) {
				continue
			}
			for _, p := range Beside(x, d.Name, n) {
				if !slices.ContainsFunc(out, func(f Failing) bool { return f.Plugin == p }) {
					out = append(out, Failing{Driver: d.Name, Plugin: p, At: evidence.NodePlace(x, n), State: state(x, p, d.Name)})
				}
			}
		}
	}
	sorted(out)
	return out
}

// state are the answers that every such pod rests on.
func state(x *snapshot.Index, p *corev1.Pod, driver string) []evidence.Answer {
	return []evidence.Answer{evidence.Yes(pods.State(p)).With(pods.LastWords(x, p)), node.Ready(x, p.Spec.NodeName), csi.Undisputed(x, driver).Nothing()}
}

func sorted(out []Failing) {
	slices.SortFunc(out, func(a, b Failing) int { return strings.Compare(a.Driver+a.Plugin.Name, b.Driver+b.Plugin.Name) })
}
