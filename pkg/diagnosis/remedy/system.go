package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// system is a kind of node, as far as it matters for running something on it.
type system int

const (
	common       system = iota // a shell and the usual programs in /usr/bin and /usr/sbin
	talos                      // no shell, no programs; an API of its own
	bottlerocket               // programs, but no shell
	nixos                      // programs, but not where others have them
	openshift                  // oc debug node is what its people know and may do
	closed                     // Windows, or no machine at all: no pod enters its namespaces
)

// systemOf tells it by os-release(5) of the node where it was probed, else by what the
// kubelet reports of it.
func systemOf(x *snapshot.Index, node string) system {
	id, variant, name := "", "", ""
	if n := x.Node(node); n != nil {
		if snapshot.Windows(n) || snapshot.Virtual(n) != "" {
			return closed
		}
		name = n.Status.NodeInfo.OSImage
	}
	if v := x.View(node); v != nil && v.Facts != nil {
		id, variant = v.Facts.Identity.OSRelease["ID"], v.Facts.Identity.OSRelease["VARIANT_ID"]
	}
	is := func(word, begin string) bool { return id == word || id == "" && strings.HasPrefix(name, begin) }
	switch {
	case is("talos", "Talos"):
		return talos
	case is("bottlerocket", "Bottlerocket"):
		return bottlerocket
	case is("nixos", "NixOS"):
		return nixos
	case is("rhcos", "Red Hat Enterprise Linux CoreOS"), id == "rhel" && variant == "coreos":
		return openshift
	}
	return common
}

// InImage says how something comes onto a node whose system is one image, in front of what is done elsewhere; empty for
// all other systems.
func InImage(x *snapshot.Index, node, what string) string {
	switch systemOf(x, node) {
	case talos:
		return "Node " + node + " runs Talos, on which nothing is installed or started by hand: " + what + " comes with a system extension in its image, where its release has one, and with the machine configuration. "
	case bottlerocket:
		return "Node " + node + " runs Bottlerocket, on which nothing is installed: " + what + " is there only in a variant that brings it. Else let the pods run on nodes of another system. "
	case openshift:
		return "Node " + node + " runs Red Hat CoreOS, which gets " + what + " from a MachineConfig of its pool (its files, its units, its extensions); the nodes of the pool restart one by one. "
	}
	return ""
}

// kubeletUnits are the units whose journal holds the kubelet's log, by what the
// kubelet says of its version: k3s, RKE2 and k0s carry it in a process of their own.
// The pattern of a unit matches the server and the agent.
func kubeletUnits(x *snapshot.Index, node string) string {
	version, n := "", x.Node(node)
	if n != nil {
		version = n.Status.NodeInfo.KubeletVersion
	}
	switch {
	case n != nil && n.Labels["microk8s.io/cluster"] == "true":
		return "snap.microk8s.daemon-kubelite"
	case strings.Contains(version, "+k3s"):
		return "k3s*"
	case strings.Contains(version, "+rke2"):
		return "rke2*"
	case strings.Contains(version, "+k0s"):
		return "k0s*"
	}
	return "kubelet"
}

// addressOf is where the API of a node answers: its internal address.
func addressOf(x *snapshot.Index, node string) string {
	if n := x.Node(node); n != nil {
		for _, a := range n.Status.Addresses {
			if a.Type == "InternalIP" {
				return a.Address
			}
		}
	}
	return node
}
