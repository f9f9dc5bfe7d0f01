package storagepath

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestPolicyAgainst: policies add up; a peer that selects pods is never a node's own network.
func TestPolicyAgainst(t *testing.T) {
	t.Parallel()
	rule := func(port int, from ...networkingv1.NetworkPolicyPeer) networkingv1.NetworkPolicyIngressRule {
		r := networkingv1.NetworkPolicyIngressRule{From: from}
		if port > 0 {
			p := intstr.FromInt32(int32(port))
			r.Ports = []networkingv1.NetworkPolicyPort{{Port: &p}}
		}
		return r
	}
	pods := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}}
	block := func(cidr string, except ...string) networkingv1.NetworkPolicyPeer {
		return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr, Except: except}}
	}
	for name, c := range map[string]struct {
		rules []networkingv1.NetworkPolicyIngressRule
		host  bool
		want  bool // a policy keeps the node off
	}{
		"pods only":                {[]networkingv1.NetworkPolicyIngressRule{rule(2049, pods)}, false, true},
		"everybody":                {[]networkingv1.NetworkPolicyIngressRule{rule(2049)}, false, false},
		"the node's address":       {[]networkingv1.NetworkPolicyIngressRule{rule(2049, block("10.0.0.0/24"))}, false, false},
		"all but the node":         {[]networkingv1.NetworkPolicyIngressRule{rule(2049, block("10.0.0.0/24", "10.0.0.11/32"))}, false, true},
		"what the CNI masquerades": {[]networkingv1.NetworkPolicyIngressRule{rule(0, block("10.42.0.0/16"))}, false, false},
		"another port":             {[]networkingv1.NetworkPolicyIngressRule{rule(8080)}, false, true},
		"nobody":                   {nil, false, true},
		"a pod of the host":        {nil, true, false},
	} {
		policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "store", Name: "p"}, Spec: networkingv1.NetworkPolicySpec{Ingress: c.rules}}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{PodCIDR: "10.42.1.0/24"}, Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.11"}}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{node}, NetworkPolicies: []*networkingv1.NetworkPolicy{policy}}})
		server := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "store", Name: "nfs-0"}, Spec: corev1.PodSpec{HostNetwork: c.host}}
		if got := policyAgainst(x, server, "n", "2049") != nil; got != c.want {
			t.Errorf("%s: kept off %v", name, got)
		}
	}
	if !covers(&networkingv1.IPBlock{CIDR: "fd00::/8"}, []netip.Addr{netip.MustParseAddr("fd00::1")}) {
		t.Error("IPv6 is an address, too")
	}
}
