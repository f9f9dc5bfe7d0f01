package attach

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// watcher is a client that has an RBD image open, as rbd status prints it.
type watcher struct {
	Address string // without port and nonce
	Client  string // the number behind "client."
}

var (
	watcherForm = regexp.MustCompile(`watcher[= ]+(?:v[12]:)?\[?([0-9a-fA-F.:]+?)\]?:\d+/\d+\s+(?:by )?client\.(\d+)`)
	inUseForm   = regexp.MustCompile(`is still being used|watchers?\b`)
)

// foreignWatcher finds a fresh text of the storage that names a client with an address
// of nobody in this cluster.
func foreignWatcher(p *diagnosis.Pass, v *snapshot.Volume) (diagnosis.Text, watcher, bool) {
	if len(v.Waiting()) == 0 {
		return diagnosis.Text{}, watcher{}, false
	}
	for _, t := range p.Texts(v) {
		if !t.Fresh || !inUseForm.MatchString(t.Raw) {
			continue
		}
		for _, m := range watcherForm.FindAllStringSubmatch(t.Raw, -1) {
			addr, err := netip.ParseAddr(m[1])
			if err == nil && !ours(p, addr.Unmap()) {
				return t, watcher{Address: m[1], Client: m[2]}, true
			}
		}
	}
	return diagnosis.Text{}, watcher{}, false
}

// podPools are what common distributions give to pods by default: k3s and RKE, flannel,
// kubespray, weave, OpenShift, microk8s.
var podPools = []netip.Prefix{
	netip.MustParsePrefix("10.42.0.0/16"), netip.MustParsePrefix("10.244.0.0/16"), netip.MustParsePrefix("10.233.64.0/18"),
	netip.MustParsePrefix("10.32.0.0/12"), netip.MustParsePrefix("10.128.0.0/14"), netip.MustParsePrefix("10.1.0.0/16"),
}

// ours tells whether an address belongs, or may belong, to the cluster: to a node, to a
// pod, or to a range that pods get their addresses from (a pod that is gone leaves its
// watcher).
func ours(p *diagnosis.Pass, addr netip.Addr) bool {
	if slices.ContainsFunc(podPools, func(r netip.Prefix) bool { return r.Contains(addr) }) {
		return true
	}
	same := func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Unmap() == addr
	}
	for _, n := range p.Cluster.Nodes {
		for _, a := range n.Status.Addresses {
			if same(a.Address) {
				return true
			}
		}
		for _, r := range append([]string{n.Spec.PodCIDR}, n.Spec.PodCIDRs...) {
			if prefix, err := netip.ParsePrefix(r); err == nil && prefix.Contains(addr) {
				return true
			}
		}
	}
	for _, pod := range p.Cluster.Pods {
		if same(pod.Status.PodIP) || same(pod.Status.HostIP) || !pod.Spec.HostNetwork && samePool(pod.Status.PodIP, addr) {
			return true
		}
		for _, ip := range pod.Status.PodIPs {
			if same(ip.IP) {
				return true
			}
		}
	}
	for _, s := range p.Cluster.Services {
		if same(s.Spec.ClusterIP) || strings.Contains(strings.Join(s.Spec.ExternalIPs, " "), addr.String()) {
			return true
		}
	}
	return false
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

// mappedHere are the probed nodes that have the volume's device or a mount of it.
func mappedHere(p *diagnosis.Pass, v *snapshot.Volume) []string {
	var out []string
	for _, d := range p.Devices(v) {
		if d.Block != nil {
			out = append(out, d.Node)
		}
	}
	for _, n := range p.Cluster.Nodes {
		if len(p.VolumeMounts(v, n.Name)) > 0 {
			out = append(out, n.Name)
		}
	}
	return out
}

// unprobed are the nodes of the cluster without a recording.
func unprobed(p *diagnosis.Pass) []string {
	var out []string
	for _, n := range p.Cluster.Nodes {
		if p.View(n.Name) == nil {
			out = append(out, n.Name)
		}
	}
	return out
}
