package snapshot

import (
	"path"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// provenSpaces are the namespaces in which a workload that says that it is a driver's
// controller is believed: where the cluster's own storage lives, and where the driver's
// node plugin runs with kubelet's directories. What a Deployment calls itself, mounts
// from an emptyDir or writes into its arguments, anybody can write in a namespace of his
// own; who gets kubelet's directories of a node into a pod owns the node anyway.
func (x *Index) provenSpaces(driver string) []string {
	return x.provenOfDriver.get(driver, x.findProvenSpaces)
}

// ProvenSpace tells whether what runs in a namespace is believed to serve a driver.
func (x *Index) ProvenSpace(namespace string) bool {
	return namespace == metav1.NamespaceSystem || slices.Contains(x.LonghornNamespaces(), namespace) ||
		slices.ContainsFunc(x.Drivers(), func(d string) bool { return slices.Contains(x.provenSpaces(d), namespace) })
}

func (x *Index) findProvenSpaces(driver string) []string {
	var out nodeList
	if driver == LonghornDriver && len(x.LonghornNamespaces()) > 0 {
		return x.LonghornNamespaces()
	}
	out.add(metav1.NamespaceSystem)
	if d := x.CSIDriver(driver); d != nil && d.Annotations[helmNamespace] != "" {
		out.add(d.Annotations[helmNamespace])
	}
	sets, pods := x.claimants(driver)
	for _, ns := range x.pluggedSpaces(driver, x.workloadOf(driver).spaces(), sets, pods) {
		out.add(ns)
	}
	return out
}

// pluggedSpaces are those of some namespaces in which a node runs a DaemonSet of a driver
// with kubelet's directories. The pods tell it; where none of a DaemonSet was read, the
// status that the DaemonSet controller writes.
func (x *Index) pluggedSpaces(driver string, spaces []string, sets []*appsv1.DaemonSet, pods []*corev1.Pod) []string {
	return slices.DeleteFunc(slices.Clone(spaces), func(ns string) bool {
		return !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Namespace == ns && x.plugged(p, driver) }) &&
			!slices.ContainsFunc(sets, func(ds *appsv1.DaemonSet) bool {
				return ds.Namespace == ns && len(x.podsOfSet(ds)) == 0 && rolledOut(ds) && hasKubeletDir(&ds.Spec.Template.Spec, driver)
			})
	})
}

// rolledOut tells whether pods of a DaemonSet's template, as it is now, run on nodes. A
// status without a generation was not written by a controller but by hand.
func rolledOut(ds *appsv1.DaemonSet) bool {
	s := &ds.Status
	if s.ObservedGeneration == 0 {
		return s.CurrentNumberScheduled > 0
	}
	return s.ObservedGeneration == ds.Generation && s.UpdatedNumberScheduled > 0
}

// kubeletDirs are where plugins meet kubelet: below its root, the directory of the
// registration sockets, and that of the plugins' own (pkg/kubelet/config/defaults.go of
// Kubernetes).
var kubeletDirs = []string{"kubelet", "plugins", "plugins_registry"}

// plugged tells whether a pod of a DaemonSet runs on a node with the directories of
// kubelet in which plugins meet it, from the host.
func (x *Index) plugged(p *corev1.Pod, driver string) bool {
	ref := metav1.GetControllerOf(p)
	if ref == nil || ref.Kind != "DaemonSet" || p.Spec.NodeName == "" {
		return false
	}
	ds := x.daemonSets[key{p.Namespace, ref.Name}]
	if ds == nil && x.Collected("apps/daemonsets") || ds != nil && ds.UID != ref.UID {
		return false // anybody can write an owner down; the controller writes its UID
	}
	return hasKubeletDir(&p.Spec, driver)
}

func hasKubeletDir(spec *corev1.PodSpec, driver string) bool {
	return slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && (slices.Contains(kubeletDirs, path.Base(path.Clean(v.HostPath.Path))) || pluginDir(v.HostPath.Path) == driver)
	})
}

// LeaderLease is the lease of one of these names by which a driver's controller elects its
// leader, or nil; proven is false where anybody may have written it: who edits a namespace
// writes leases there.
func (x *Index) LeaderLease(driver string, names ...string) (found *coordinationv1.Lease, proven bool) {
	for _, l := range x.Cluster.Leases {
		if l == nil || l.Spec.RenewTime == nil || !slices.Contains(names, l.Name) {
			continue
		}
		if slices.Contains(x.provenSpaces(driver), l.Namespace) {
			return l, true
		}
		found = l
	}
	return found, false
}
