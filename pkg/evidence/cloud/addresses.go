package cloud

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// podPools are what common distributions give to pods by default: k3s and RKE, flannel,
// kubespray, weave, OpenShift, microk8s.
var podPools = []netip.Prefix{
	netip.MustParsePrefix("10.42.0.0/16"), netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("10.233.64.0/18"),
	netip.MustParsePrefix("10.32.0.0/12"), netip.MustParsePrefix("10.128.0.0/14"), netip.MustParsePrefix("10.1.0.0/16"),
}

// Ours tells whether an address belongs, or may belong, to the cluster: to a node, to a
// pod, or to a range that pods get their addresses from (a pod that is gone leaves its
// watcher).
func Ours(x *snapshot.Index, addr netip.Addr) bool {
	if slices.ContainsFunc(podPools, func(r netip.Prefix) bool { return r.Contains(addr) }) {
		return true
	}
	same := func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Unmap() == addr
	}
	for _, n := range x.Cluster.Nodes {
		if snapshot.GivesOut(n, addr) || slices.ContainsFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool { return same(a.Address) }) {
			return true
		}
	}
	for _, pod := range x.Cluster.Pods {
		if same(pod.Status.PodIP) || same(pod.Status.HostIP) || !pod.Spec.HostNetwork && samePool(pod.Status.PodIP, addr) {
			return true
		}
		if slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return same(ip.IP) }) {
			return true
		}
	}
	return slices.ContainsFunc(x.Cluster.Services, func(s *corev1.Service) bool {
		return same(s.Spec.ClusterIP) || strings.Contains(strings.Join(s.Spec.ExternalIPs, " "), addr.String())
	})
}

// samePool tells whether an address looks like one of the pod network: address pools of
// network plugins are not in the Node objects, and pods that are gone had theirs there.
func samePool(podIP string, addr netip.Addr) bool {
	a, err := netip.ParseAddr(podIP)
	if err != nil || a.Is4() != addr.Is4() {
		return false
	}
	bits := 16
	if a.Is6() {
		bits = 64
	}
	pool, err := a.Prefix(bits)
	return err == nil && pool.Contains(addr)
}
