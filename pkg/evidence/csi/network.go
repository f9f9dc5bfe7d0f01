package csi

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

// InHostNetwork asks whether the volume of a place is mounted in the network of its node:
// by kubelet itself, or by a plugin pod with hostNetwork. Only then a dial of the node is
// a dial of whoever mounts.
func InHostNetwork(pl *evidence.Place) evidence.Answer {
	driver := pl.Volume.CSIName()
	if driver == "" {
		return evidence.Yes()
	}
	pod := pl.X.DriverPodOn(driver, pl.Node)
	if pod == nil {
		return evidence.Unseen(evidence.Lack{Need: "the plugin pod of driver " + driver, Node: pl.Node, Why: "not found"})
	}
	if !pod.Spec.HostNetwork {
		return evidence.Unseen(evidence.Lack{Need: "the network of pod " + pod.Namespace + "/" + pod.Name, Node: pl.Node, Why: "it is not the node's"})
	}
	return evidence.Yes(evidence.FromPod(pod, "spec.hostNetwork", "true"))
}
