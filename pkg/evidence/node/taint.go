package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// The taints that say of a machine that it is off.
const (
	// OutOfService is an administrator's: the attach-detach controller then waits for no unmount, and the
	// node's volumes are detached as soon as their pods are gone (KEP-2268).
	OutOfService = "node.kubernetes.io/out-of-service"
	// Shutdown is the cloud provider's.
	Shutdown = "node.cloudprovider.kubernetes.io/shutdown"
)

// Tainted tells whether a node carries a taint of this key; one that does not exist carries none.
func Tainted(n *corev1.Node, key string) bool {
	return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}
