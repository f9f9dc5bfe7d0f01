package storagepath

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Policy is a NetworkPolicy that selects a server and does not admit a node.
type Policy struct {
	Namespace, Name, spec string
	pods                  metav1.LabelSelector
}

// policyAgainst finds the policy that keeps a node from a pod's port: policies add up,
// so one that admits the node is enough to let it in. A peer that selects pods never
// means a node's own network.
func policyAgainst(x *snapshot.Index, server *corev1.Pod, node, port string) *Policy {
	if server.Spec.HostNetwork {
		return nil
	}
	var found *Policy
	for _, policy := range x.Cluster.NetworkPolicies {
		if policy.Namespace != server.Namespace || !selects(policy.Spec.PodSelector, server) || !ingress(policy) {
			continue
		}
		if admits(policy, nodeAddresses(x.Node(node)), port) {
			return nil
		}
		if found == nil {
			spec, _ := json.Marshal(policy.Spec) // of types from the API: cannot fail
			found = &Policy{policy.Namespace, policy.Name, string(spec), policy.Spec.PodSelector}
		}
	}
	return found
}

func selects(s metav1.LabelSelector, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(&s)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// ingress tells whether a policy restricts what comes in; without types every policy does.
func ingress(policy *networkingv1.NetworkPolicy) bool {
	return len(policy.Spec.PolicyTypes) == 0 || slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress)
}

func nodeAddresses(n *corev1.Node) []netip.Addr {
	if n == nil {
		return nil
	}
	var out []netip.Addr
	add := func(s string) {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, a)
		}
	}
	for _, a := range n.Status.Addresses {
		add(a.Address)
	}
	for _, cidr := range append([]string{n.Spec.PodCIDR}, n.Spec.PodCIDRs...) {
		if prefix, err := netip.ParsePrefix(cidr); err == nil {
			out = append(out, prefix.Addr(), prefix.Addr().Next()) // the CNI's own addresses on the node
		}
	}
	return out
}

func admits(policy *networkingv1.NetworkPolicy, from []netip.Addr, port string) bool {
	for _, rule := range policy.Spec.Ingress {
		if !hasPort(rule.Ports, port) {
			continue
		}
		if len(rule.From) == 0 {
			return true
		}
		for _, peer := range rule.From {
			if peer.IPBlock != nil && (len(from) == 0 || covers(peer.IPBlock, from)) {
				return true
			}
		}
	}
	return false
}

func hasPort(ports []networkingv1.NetworkPolicyPort, port string) bool {
	n, _ := strconv.Atoi(port)
	for _, q := range ports {
		if q.Protocol != nil && *q.Protocol != corev1.ProtocolTCP {
			continue
		}
		if q.Port == nil || q.Port.String() == port || q.EndPort != nil && q.Port.IntValue() <= n && n <= int(*q.EndPort) || q.Port.IntValue() == 0 {
			return true // a port by name may be this one
		}
	}
	return len(ports) == 0
}

func covers(block *networkingv1.IPBlock, from []netip.Addr) bool {
	in := func(cidr string, a netip.Addr) bool {
		prefix, err := netip.ParsePrefix(cidr)
		return err == nil && prefix.Contains(a)
	}
	return slices.ContainsFunc(from, func(a netip.Addr) bool {
		return in(block.CIDR, a) && !slices.ContainsFunc(block.Except, func(e string) bool { return in(e, a) })
	})
}
