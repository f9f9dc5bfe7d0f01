package transport

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// fromLog reports what the server's log alone shows: one client name, several
// addresses in turn. A machine with two addresses, or a translated address, would
// look the same, so it is never more than likely; where the host names of all
// client nodes are known and differ, it is refuted.
func (c collision) fromLog(p *diagnosis.Pass) {
	for _, x := range c.contests {
		if !x.alternates() {
			continue
		}
		nodes := c.comingFrom(p, x)
		if c.refuted(p, nodes) {
			continue
		}
		for _, n := range c.unseen {
			p.Probed(n)
		}
		if len(nodes) == 0 {
			nodes = c.unseen
		}
		if len(nodes) == 0 {
			continue
		}
		f := c.finding(p, report.Likely, nodes[0], nodes)
		f.Sayf("%sThat is what two machines with the host name %q do: the server takes them for one client, and each session throws out the other. The sessions come from %s. "+
			"Node names of Kubernetes say nothing about host names (--hostname-override); the host names of the machines were not seen.", x.words(), x.host(), where(nodes))
		f.Fact(x.evidence...)
		for _, n := range p.Cluster.Nodes {
			for _, a := range n.Status.Addresses {
				if a.Type == corev1.NodeHostName && a.Address == x.host() {
					f.Fact(diagnosis.FromAPI("Node "+n.Name, "status.addresses[Hostname]", a.Address))
				}
			}
		}
		for _, n := range nodes {
			if g, ok := p.NodeGap(n); ok {
				f.Missing(fmt.Sprintf("the host name of node %s (not probed: %s)", n, g.Reason))
			} else if p.View(n) == nil {
				f.Missing("the host name of node " + n)
			}
		}
		p.Report(f)
		return
	}
}

func where(nodes []string) string {
	if len(nodes) == 1 {
		return "node " + nodes[0]
	}
	return "nodes " + strings.Join(nodes, ", ")
}

// refuted tells whether all nodes that the sessions can come from were seen and
// none of their names is contested.
func (c collision) refuted(p *diagnosis.Pass, nodes []string) bool {
	if len(c.unseen) > 0 {
		return false
	}
	for _, n := range nodes {
		if p.View(n) == nil {
			return false
		}
	}
	return true
}

// comingFrom names the nodes behind the addresses of a contest: their own
// addresses, or one of their pod network, as what a CNI masquerades to.
func (c collision) comingFrom(p *diagnosis.Pass, x *contest) []string {
	var out []string
	for _, text := range x.addresses {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		for _, n := range p.Cluster.Nodes {
			if ownsAddress(n, addr) && !slices.Contains(out, n.Name) {
				out = append(out, n.Name)
			}
		}
	}
	return out
}

func ownsAddress(n *corev1.Node, addr netip.Addr) bool {
	for _, a := range n.Status.Addresses {
		if a.Address == addr.String() {
			return true
		}
	}
	for _, cidr := range append([]string{n.Spec.PodCIDR}, n.Spec.PodCIDRs...) {
		if p, err := netip.ParsePrefix(cidr); err == nil && p.Contains(addr) {
			return true
		}
	}
	return false
}
