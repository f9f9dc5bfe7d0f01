package launch

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Servers are what one node is asked besides what it leads to itself: nothing on a node
// tells of a server before the first mount or login.
type Servers struct {
	Names []string // for the host's resolver
	Dials []string // HOST:PORT, to connect to
}

// mostServers bounds either list.
const mostServers = 48

// servers are those of the volumes that pods on the node wait for, and of the volumes that
// the question is about: that one node reaches a server is what tells its fault from that
// of another. Sorted.
func servers(x *snapshot.Index, node string, asked []*snapshot.Volume) Servers {
	volumes := slices.Clone(asked)
	for _, pod := range x.PodsOn(node) {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, v := range x.VolumesOfPod(pod) {
			if !slices.Contains(volumes, v) {
				volumes = append(volumes, v)
			}
		}
	}
	list := managers(x)
	for _, v := range volumes {
		list = append(list, endpoints(x, v, node)...)
	}
	var out Servers
	for _, e := range list {
		if !plainHost.MatchString(e.host) || !plainPort.MatchString(e.port) {
			continue
		}
		out.Dials = append(out.Dials, net.JoinHostPort(e.host, e.port))
		if _, err := netip.ParseAddr(e.host); err != nil {
			out.Names = append(out.Names, e.host)
		}
	}
	return Servers{Names: some(out.Names), Dials: some(out.Dials)}
}

// What stands in objects is anybody's: only what is an address or a name of the DNS goes
// to the agent.
var (
	plainHost = pattern.MustCompile(`^[0-9A-Za-z:]([0-9A-Za-z._:-]{0,251}[0-9A-Za-z:.])?$`)
	plainPort = pattern.MustCompile(`^[0-9]{1,5}$`)
)

func some(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), mostServers)]
}

// endpoint is where a server of a volume listens.
type endpoint struct{ host, port string }

// endpoints are the servers that a volume needs on a node.
func endpoints(x *snapshot.Index, v *snapshot.Volume, node string) []endpoint {
	var out []endpoint
	add := func(host, port string) {
		if host = strings.Trim(host, "[]"); host != "" {
			out = append(out, endpoint{host, port})
		}
	}
	server, _ := v.NFSServer()
	for _, host := range []string{server, v.ShareAddress()} {
		add(host, v.NFSPort())
		for _, ip := range behind(x, host) {
			add(ip, v.NFSPort())
		}
	}
	if pod := x.ShareManagerPod(v); pod != nil {
		add(pod.Status.PodIP, v.NFSPort())
	}
	if share, port := v.SMBShare(); share != "" {
		host, _, _ := strings.Cut(strings.TrimLeft(strings.ReplaceAll(share, `\`, "/"), "/"), "/")
		add(host, port)
	}
	nodes := []string{node}
	for _, va := range v.Attachments { // whether this node reaches what another was told tells their faults apart
		nodes = append(nodes, va.Spec.NodeName)
	}
	for _, n := range nodes {
		for _, a := range v.ISCSIPortals(n) {
			add(a.Addr().String(), strconv.Itoa(int(a.Port())))
		}
	}
	for _, a := range x.NVMePortals(v, node) {
		add(a.Addr().String(), strconv.Itoa(int(a.Port())))
	}
	if v.IsLonghorn() { // an engine's target is that of its own node's instance manager
		for _, im := range x.InstanceManagersOn(node) {
			add(im.IP, "3260")
			if pod := x.Pod(x.LonghornNamespace(), im.Name); pod != nil {
				add(pod.Status.PodIP, "3260")
			}
		}
	}
	for _, m := range x.CephMonitors(v, node) {
		if host, port, err := net.SplitHostPort(m); err == nil {
			add(host, port)
		} else {
			add(m, "6789")
		}
	}
	return out
}

// behind are the addresses of the Service that a server's address is, and of its pods.
func behind(x *snapshot.Index, host string) []string {
	s := x.ServiceAt(host)
	if s == nil {
		return nil
	}
	var out []string
	if s.Spec.ClusterIP != corev1.ClusterIPNone {
		out = append(out, s.Spec.ClusterIP)
	}
	for _, pod := range x.PodsIn(s.Namespace) {
		if snapshot.ServiceSelects(s, pod) {
			out = append(out, pod.Status.PodIP)
		}
	}
	return out
}

// someManagers bounds at how many of Longhorn's managers every node knocks.
const someManagers = 8

// managers are where Longhorn's managers listen, as long as they are few: their API and the
// webhook that stands before every write of a Longhorn object.
func managers(x *snapshot.Index) []endpoint {
	var out []endpoint
	for _, pod := range x.PodsIn(x.LonghornNamespace()) {
		if pod.Labels["app"] == "longhorn-manager" && pod.Status.PodIP != "" {
			out = append(out, endpoint{pod.Status.PodIP, "9500"}, endpoint{pod.Status.PodIP, "9502"})
		}
	}
	if len(out) > 2*someManagers {
		return nil
	}
	return out
}
