package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// LonghornNamespaces are the namespaces in which objects of Longhorn were read,
// sorted. There should be one; only these objects prove where Longhorn lives,
// because labels and names are anybody's.
func (x *Index) LonghornNamespaces() []string {
	l := &x.Cluster.Longhorn
	var out []string
	add := func(namespace string) {
		if namespace != "" && !slices.Contains(out, namespace) {
			out = append(out, namespace)
		}
	}
	for _, o := range l.Volumes {
		add(o.Namespace)
	}
	for _, o := range l.Nodes {
		add(o.Namespace)
	}
	for _, o := range l.Settings {
		add(o.Namespace)
	}
	for _, o := range l.InstanceManagers {
		add(o.Namespace)
	}
	for _, o := range l.Engines {
		add(o.Namespace)
	}
	for _, o := range l.Replicas {
		add(o.Namespace)
	}
	for _, o := range l.EngineImages {
		add(o.Namespace)
	}
	for _, o := range l.Attachments {
		add(o.Namespace)
	}
	slices.Sort(out)
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
