package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Ready asks whether the API calls a node Ready. A node that is not there is not.
func Ready(x *snapshot.Index, name string) evidence.Answer {
	r := x.NodeReady(name)
	if !r.Known {
		return evidence.Not(evidence.Resource(x, "/nodes").Nothing())
	}
	return evidence.When(r.Ready, evidence.FromAPI("Node "+name, "status.conditions[Ready]", r.Status()+" since "+r.Since.UTC().Format(time.RFC3339)))
}

// Renews asks whether the kubelet of a node keeps its lease. The condition Ready of a kubelet
// that died stays for most of a minute, and for ever without a controller that watches it.
func Renews(x *snapshot.Index, name string) evidence.Answer {
	r := x.NodeReady(name)
	if r.LeaseAge < 0 { // a kubelet that keeps none is known by the condition alone
		return evidence.ResourceIn(x, "coordination.k8s.io/leases", corev1.NamespaceNodeLease).Nothing()
	}
	return evidence.When(!r.LeaseOld(), evidence.FromAPI("Lease "+corev1.NamespaceNodeLease+"/"+name, "spec.renewTime", evidence.Duration(r.LeaseAge)+" ago"))
}

// Evicts tells whether a taint of a node ends the pods there that do not tolerate it.
func Evicts(x *snapshot.Index, name string) bool {
	n := x.Node(name)
	return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute })
}

// Kernel is the release of a node's kernel, from itself or from its Node object.
func Kernel(x *snapshot.Index, node string) (release string, fact report.Evidence) {
	if view := x.View(node); view != nil && view.Facts.Identity.Kernel != "" {
		return view.Facts.Identity.Kernel, evidence.FromNode(node, "proc/sys/kernel/osrelease", view.Facts.Identity.Kernel)
	}
	if n := x.Node(node); n != nil && n.Status.NodeInfo.KernelVersion != "" {
		return n.Status.NodeInfo.KernelVersion, evidence.FromAPI("Node "+node, "status.nodeInfo.kernelVersion", n.Status.NodeInfo.KernelVersion)
	}
	return "", report.Evidence{}
}

// The taints that say of a machine that it is off.
const (
	// OutOfService is an administrator's: the attach-detach controller then waits for no unmount, and the
	// node's volumes are detached as soon as their pods are gone (KEP-2268).
	OutOfService = "node.kubernetes.io/out-of-service"
	// Shutdown is the cloud provider's.
	Shutdown = "node.cloudprovider.kubernetes.io/shutdown"
)

// Tainted tells whether a node carries a taint of this key; one that does not exist carries none.
func Tainted(n *corev1.Node, key string) bool { return Taint(n, key) != nil }

// Taint is a node's first taint of this key, or nil.
func Taint(n *corev1.Node, key string) *corev1.Taint {
	if n == nil {
		return nil
	}
	for i := range n.Spec.Taints {
		if n.Spec.Taints[i].Key == key {
			return &n.Spec.Taints[i]
		}
	}
	return nil
}
