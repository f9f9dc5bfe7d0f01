package snapshot

import (
	"path"
	"slices"

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

func (x *Index) findProvenSpaces(driver string) []string {
	var out nodeList
	if driver == LonghornDriver && len(x.LonghornNamespaces()) > 0 {
		return x.LonghornNamespaces()
	}
	out.add(metav1.NamespaceSystem)
	if d := x.CSIDriver(driver); d != nil && d.Annotations[helmNamespace] != "" {
		out.add(d.Annotations[helmNamespace])
	}
	for _, p := range x.DriverPods(driver) {
		if x.plugged(p, driver) {
			out.add(p.Namespace)
		}
	}
	return out
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
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.HostPath != nil && (slices.Contains(kubeletDirs, path.Base(path.Clean(v.HostPath.Path))) || pluginDir(v.HostPath.Path) == driver)
	})
}
