package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LonghornNamespaces are the namespaces in which objects of Longhorn were read,
// sorted. There should be one; only these objects prove where Longhorn lives,
// because labels and names are anybody's.
func (x *Index) LonghornNamespaces() []string { return x.longhornSpaces }

func (x *Index) findLonghornNamespaces() []string {
	l := &x.Cluster.Longhorn
	out := slices.Concat(spacesOf(l.Volumes), spacesOf(l.Nodes), spacesOf(l.Settings), spacesOf(l.InstanceManagers),
		spacesOf(l.Engines), spacesOf(l.Replicas), spacesOf(l.EngineImages), spacesOf(l.Attachments))
	slices.Sort(out)
	return slices.Compact(out)
}

// spacesOf are the namespaces of some objects, one for each that has one.
func spacesOf[T metav1.Object](list []T) []string {
	var out []string
	for _, o := range list {
		if n := o.GetNamespace(); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// findLonghornNamespace is where Longhorn's objects are. Where none was read, or
// they lie in several namespaces, what its workloads are called is a guess that
// is good enough to ask for more, and for nothing else.
func (x *Index) findLonghornNamespace() string {
	spaces := x.LonghornNamespaces()
	if len(spaces) == 1 {
		return spaces[0]
	}
	named := func(namespace string) bool { return len(spaces) == 0 || slices.Contains(spaces, namespace) }
	for _, ds := range x.Cluster.DaemonSets {
		if ds != nil && named(ds.Namespace) && (ds.Name == "longhorn-manager" || ds.Labels["app"] == "longhorn-manager") {
			return ds.Namespace
		}
	}
	for _, p := range x.Cluster.Pods {
		if p != nil && named(p.Namespace) && p.Labels["app"] == "longhorn-manager" {
			return p.Namespace
		}
	}
	if len(spaces) > 0 {
		return spaces[0]
	}
	return "longhorn-system"
}

// DriversRegistered are the CSI drivers that a pod's registrar is told to register
// with the kubelet, else those whose directories below the kubelet's it mounts.
// Anybody can write such arguments: they say what a pod wants to be.
func DriversRegistered(spec *corev1.PodSpec) []string { return driversOf(spec) }
