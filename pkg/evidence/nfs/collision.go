package nfs

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Collision is what is known of machines that the NFS server of a volume takes for one.
type Collision struct {
	pl       *evidence.Place
	Server   string
	groups   [][]client
	contests []*Contest
	unseen   []string // client nodes that were not looked at

	Nodes []string        // those that collide, those with pods of the volume first
	Same  string          // which have one name, in sentences; empty: only the log shows it
	Log   string          // what the server's log shows, in sentences
	Host  string          // the host name in the log's name of the client
	Is    evidence.Answer // that they have one name, or that the log shows one in turn
	Lost  evidence.Answer // that sessions are lost now
	Names evidence.Answer // that the names of all of them were read
}

// CollisionOf looks at the clients of a volume's server and at the server's log.
func CollisionOf(pl *evidence.Place) (Collision, bool) {
	server, mounted := MountedServer(pl.X, pl.Volume)
	c := Collision{pl: pl, Server: server}
	if !mounted && server == "" && !pl.Volume.RegularRWX() {
		return c, false
	}
	c.groups = twins(clientsOf(pl.X, server))
	for _, log := range serverLogs(pl.X, pl.Volume, server) {
		for _, x := range contests(pl.X, log) {
			if x.fresh(pl.X) && (x.alternates() || x.renews()) {
				c.contests = append(c.contests, x)
			}
		}
	}
	for _, x := range pl.Volume.Live() {
		if n := x.Node(); n != "" && pl.X.View(n) == nil && !slices.Contains(c.unseen, n) {
			c.unseen = append(c.unseen, n)
		}
	}
	if len(c.groups) > 0 {
		c.proven()
		return c, true
	}
	return c, c.fromLog()
}

// Others asks whether every node with a pod of the volume was looked at: one more with the
// name changes nothing for those that were.
func (c *Collision) Others() evidence.Answer {
	var out evidence.Reading
	for _, n := range c.unseen {
		out = out.And(evidence.NodePlace(c.pl.X, n).Probed())
	}
	return out.Nothing()
}

// proven judges nodes with one host name that mount one server: equal names are a risk
// until the server or the clients show that sessions are lost.
func (c *Collision) proven() {
	certain, facts, trouble := false, []report.Evidence{}, []report.Evidence{}
	var words strings.Builder
	names := evidence.Reading{}
	for _, g := range c.groups {
		var of []string
		var waits []evidence.Answer
		for _, m := range g {
			of = append(of, m.view.Name)
			t := sessionTrouble(c.pl.X, m.view)
			certain = certain || t.certain
			facts, trouble = append(facts, m.evidence()...), append(trouble, t.evidence...)
			waits = append(waits, m.hangs())
			if !m.view.Facts.NFS.UniqueIDRead {
				names = names.And(evidence.Partial(evidence.Lack{Need: "nfs4_unique_id of node " + m.view.Name, Node: m.view.Name, Why: "it was not read"}))
			}
		}
		if all := evidence.All(waits...); all.Yes() {
			trouble = append(trouble, all.Facts()...)
		}
		id := "none has an nfs4_unique_id"
		if g[0].id != "" {
			id = "all have nfs4_unique_id " + g[0].id
		}
		c.Nodes = append(c.Nodes, of...)
		fmt.Fprintf(&words, "Nodes %s have one host name, %q (%s), and all mount NFS server %s with NFSv4.1 or later. ", strings.Join(of, ", "), g[0].host, id, c.Server)
	}
	for _, x := range c.contests {
		if c.named(x.host()) {
			certain = certain || x.alternates()
			trouble = append(trouble, x.evidence...)
			c.Log += x.words()
		}
	}
	slices.SortStableFunc(c.Nodes, func(a, b string) int { return c.rank(a) - c.rank(b) })
	c.Same, c.Log, c.Is, c.Names = strings.TrimSpace(words.String()), strings.TrimSpace(c.Log), evidence.Yes(facts...), names.Nothing()
	hint := evidence.Unseen(evidence.Lack{Need: "sessions that the server gives to one and the other in turn", Node: c.Nodes[0], Why: "neither its log nor the kernels say so"})
	switch {
	case certain:
		c.Lost = evidence.Yes(trouble...)
	case len(trouble) > 0:
		c.Is, c.Lost = c.Is.With(trouble...), hint
	case len(serverLogs(c.pl.X, c.pl.Volume, c.Server)) == 0: // the clients need not say a word of it
		c.Is = evidence.Unseen(evidence.Lack{Need: "logs", Node: c.Nodes[0], Why: snapshot.NotRequested})
	default:
		c.Is = evidence.No()
	}
}

func (c *Collision) named(host string) bool {
	return slices.ContainsFunc(c.groups, func(g []client) bool { return g[0].host == host })
}

func (c *Collision) rank(node string) int {
	if len(c.pl.Volume.LiveConsumersOn(node)) > 0 {
		return -1
	}
	return 0
}

func (c Contest) words() string {
	if c.alternates() {
		return fmt.Sprintf("The server's log shows client %q with sessions from %s in turn (%d changes). ", c.client, strings.Join(c.addresses, ", "), c.alternations)
	}
	return fmt.Sprintf("The server's log shows client %q removed and added %d times. ", c.client, c.renewals)
}

// fromLog judges what the server's log alone shows: one client name, several addresses in
// turn. A machine with two addresses, or a translated address, would look the same; where
// the host names of all client nodes are known and differ, it is refuted.
func (c *Collision) fromLog() bool {
	for _, x := range c.contests {
		nodes := c.comingFrom(x)
		seen := len(c.unseen) == 0 && !slices.ContainsFunc(nodes, func(n string) bool { return c.pl.X.View(n) == nil })
		if !x.alternates() || seen {
			continue
		}
		if len(nodes) == 0 {
			nodes = c.unseen
		}
		if len(nodes) == 0 {
			continue
		}
		c.Nodes, c.Lost = nodes, evidence.Yes()
		c.Log, c.Host = strings.TrimSpace(x.words()), x.host()
		facts := slices.Clone(x.evidence)
		for _, n := range c.pl.X.Cluster.Nodes {
			for _, a := range n.Status.Addresses {
				if a.Type == corev1.NodeHostName && a.Address == x.host() {
					facts = append(facts, evidence.FromAPI("Node "+n.Name, "status.addresses[Hostname]", a.Address))
				}
			}
		}
		var lacks []evidence.Lack
		for _, n := range append(slices.Clone(nodes), c.unseen...) {
			if c.pl.X.View(n) == nil {
				lacks = append(lacks, evidence.NodePlace(c.pl.X, n).Probed().Lacks()...)
			}
		}
		c.Is, c.Names = evidence.Yes(facts...), evidence.Unseen(append(lacks, evidence.Lack{Need: "the host names of nodes " + strings.Join(nodes, ", "), Node: nodes[0], Why: "not all were read"})...)
		return true
	}
	return false
}

// comingFrom names the nodes behind the addresses of a contest: their own addresses, or
// one of their pod network, as what a CNI masquerades to.
func (c *Collision) comingFrom(x *Contest) []string {
	var out []string
	for _, text := range x.addresses {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		for _, n := range c.pl.X.Cluster.Nodes {
			if (snapshot.HasAddress(n, addr.String()) || snapshot.GivesOut(n, addr)) && !slices.Contains(out, n.Name) {
				out = append(out, n.Name)
			}
		}
	}
	return out
}
