package risk

import (
	_ "embed"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed hostname_shared.md
var hostnameSharedDoc string

// HostnameShared finds nodes with one kernel host name.
var HostnameShared = &diagnosis.Rule{
	Name: "hostname-shared", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	Needs:   []diagnosis.Need{diagnosis.Probe("identity")},
	LeadsTo: []string{"nfs-client-id-collision"},
	Doc:     hostnameSharedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			sharesName(p, node)
		}
	},
}

// sharesName compares a node with every other: by the host names that were read,
// else by the addresses in the API.
func sharesName(p *diagnosis.Pass, node string) {
	mine, seen := hostname(p, node)
	if mine == "" {
		return
	}
	var twins []string
	certain := true
	for _, other := range allNodes(p) {
		if other == node {
			continue
		}
		name, read := hostname(p, other)
		if !strings.EqualFold(name, mine) || ownIdentity(p, node) && ownIdentity(p, other) && p.View(node).Facts.NFS.UniqueID != p.View(other).Facts.NFS.UniqueID {
			continue
		}
		twins = append(twins, other)
		certain = certain && read && seen
	}
	if len(twins) == 0 {
		return
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(node))
	f.Node(node)
	f.Sayf("Node %s and node %s have the same host name %q. An NFS server tells clients apart by it: the two disturb each other as soon as both mount one server.", node, strings.Join(twins, ", "), mine)
	for _, n := range append([]string{node}, twins...) {
		if name, read := hostname(p, n); read {
			f.Fact(diagnosis.FromNode(n, "@hostname", name))
		} else {
			f.Fact(diagnosis.FromAPI("Node "+n, "status.addresses[Hostname]", name))
		}
	}
	if !certain {
		f.Missing("the kernel's host name of every node named")
	}
	f.Unless("a unique nfs4_unique_id on both nodes, or different host names in their kernels")
	f.Advise(remedy.Words("Give every node a host name of its own before the next RWX mount; mounts that exist keep the old name until they are mounted anew."))
	p.Report(f)
}

// hostname is what the kernel of the node says, else the API.
func hostname(p *diagnosis.Pass, node string) (name string, read bool) {
	if v := p.View(node); v != nil && v.Facts.Identity.Hostname != "" {
		return v.Facts.Identity.Hostname, true
	}
	if n := p.Node(node); n != nil {
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeHostName {
				return a.Address, false
			}
		}
	}
	return "", false
}

// ownIdentity tells whether the node's NFS client has an id that is not its name.
func ownIdentity(p *diagnosis.Pass, node string) bool {
	v := p.View(node)
	return v != nil && v.Facts.NFS.UniqueID != ""
}

func allNodes(p *diagnosis.Pass) []string {
	var out []string
	for _, n := range p.Cluster.Nodes {
		out = append(out, n.Name)
	}
	for n := range p.NodeViews {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
