package transport

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_client_id_collision.md
var nfsClientIDCollisionDoc string

// NFSClientIDCollision finds nodes that an NFSv4 server takes for one client.
var NFSClientIDCollision = &diagnosis.Rule{
	Name: "nfs-client-id-collision", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("identity"), diagnosis.Probe("mountns"), diagnosis.Probe("nfs")},
	Explains: []string{"volume-hung", "volume-io-error", "mount-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"nfs-state-hang"},
	Offers:   []string{"delete-pod"},
	Doc:      nfsClientIDCollisionDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			collisionOf(p, v)
		}
	},
}

// collision is what is known of the clients of one volume's server.
type collision struct {
	volume   *snapshot.Volume
	server   string
	groups   [][]client
	contests []*contest
	unseen   []string // client nodes that were not probed
	certain  bool
	trouble  []report.Evidence
}

func collisionOf(p *diagnosis.Pass, v *snapshot.Volume) {
	server, mounted := mountedServer(p, v)
	if !mounted && server == "" && !v.RegularRWX() {
		return
	}
	c := collision{volume: v, server: server}
	clients := clientsOf(p, server)
	c.groups = twins(clients)
	for _, log := range serverLogs(p, v, server) {
		for _, x := range contests(p, log) {
			if x.fresh(p) && (x.alternates() || x.renews()) {
				c.contests = append(c.contests, x)
			}
		}
	}
	for _, x := range v.Live() {
		if n := x.Node(); n != "" && p.View(n) == nil && !slices.Contains(c.unseen, n) {
			c.unseen = append(c.unseen, n)
		}
	}
	if len(c.groups) > 0 {
		c.proven(p)
		return
	}
	c.fromLog(p)
}

// mountedServer is the address of a volume's NFS server: as a probed node mounted
// it, else as the PV or Longhorn says.
func mountedServer(p *diagnosis.Pass, v *snapshot.Volume) (string, bool) {
	for _, n := range viewNames(p) {
		for _, m := range p.VolumeMounts(v, n) {
			if x, ok := asNFS(m.Mount); ok {
				return x.addr, true
			}
		}
	}
	if lh := v.LH(); lh != nil {
		rest := strings.TrimPrefix(lh.Status.ShareEndpoint, "nfs://")
		if i := strings.Index(rest, "/"); i > 0 {
			return strings.Trim(rest[:i], "[]"), false
		}
	}
	server, _ := serverOf(v)
	return server, false
}

// proven reports nodes with one host name that mount one server, when the server
// or the clients show that sessions are lost. Equal names alone are a risk.
func (c collision) proven(p *diagnosis.Pass) {
	weak := false
	for _, x := range c.contests {
		if !c.named(x.host()) {
			continue
		}
		c.certain = c.certain || x.alternates()
		weak = true
		c.trouble = append(c.trouble, x.evidence...)
	}
	missing := ""
	for _, g := range c.groups {
		for _, m := range g {
			t := sessionTrouble(p, m.view)
			c.certain = c.certain || t.certain
			weak = weak || len(t.evidence) > 0
			c.trouble = append(c.trouble, t.evidence...)
			if !m.view.Facts.NFS.UniqueIDRead {
				missing = "nfs4_unique_id of node " + m.view.Name
			}
		}
	}
	if !weak {
		if len(serverLogs(p, c.volume, c.server)) == 0 { // the clients need not say a word of lost sessions
			p.Miss("logs", c.groups[0][0].view.Name)
		}
		return
	}
	certainty := report.Likely
	if c.certain {
		certainty = report.Certain
	}
	nodes := c.nodes(p)
	for i, node := range nodes {
		if i > 0 && p.Question.Kind != "cluster" {
			return
		}
		f := c.finding(p, certainty, node, nodes)
		f.Sayf("%s", c.words(nodes))
		for _, g := range c.groups {
			for _, m := range g {
				f.Fact(m.evidence()...)
			}
		}
		f.Fact(c.trouble...)
		if missing != "" {
			f.Missing(missing)
		}
		for _, n := range c.unseen {
			p.Probed(n) // one more with this name changes nothing for those that were seen
		}
		p.Report(f)
	}
}

func (c collision) named(host string) bool {
	for _, g := range c.groups {
		if g[0].host == host {
			return true
		}
	}
	return false
}

// nodes are the colliding ones, that of the question or of the volume's first pod first.
func (c collision) nodes(p *diagnosis.Pass) []string {
	var out []string
	for _, g := range c.groups {
		for _, m := range g {
			out = append(out, m.view.Name)
		}
	}
	rank := func(n string) int {
		if p.Question.Kind == "node" && n == p.Question.Name {
			return -2
		}
		if len(c.volume.LiveConsumersOn(n)) > 0 {
			return -1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b string) int { return rank(a) - rank(b) })
	return out
}

func (c collision) words(nodes []string) string {
	var b strings.Builder
	for _, g := range c.groups {
		var names []string
		for _, m := range g {
			names = append(names, m.view.Name)
		}
		id := "none has an nfs4_unique_id"
		if g[0].id != "" {
			id = "all have nfs4_unique_id " + g[0].id
		}
		fmt.Fprintf(&b, "Nodes %s have one host name, %q (%s), and all mount NFS server %s with NFSv4.1 or later. ", strings.Join(names, ", "), g[0].host, id, c.server)
	}
	b.WriteString("The server knows a client by this name alone: each new session of one node throws out the session of the other, and accesses hang. ")
	for _, x := range c.contests {
		if c.named(x.host()) {
			b.WriteString(x.words())
		}
	}
	return strings.TrimSpace(b.String())
}

func (x contest) words() string {
	if x.alternates() {
		return fmt.Sprintf("The server's log shows client %q with sessions from %s in turn (%d changes). ", x.client, strings.Join(x.addresses, ", "), x.alternations)
	}
	return fmt.Sprintf("The server's log shows client %q removed and added %d times. ", x.client, x.renewals)
}

// finding has what both branches share: subject, keys, advice.
func (c collision) finding(p *diagnosis.Pass, certainty report.Certainty, node string, nodes []string) *diagnosis.Finding {
	f := p.Find(certainty, diagnosis.NodeSubject(node)).On(c.volume)
	f.Object("server", c.server)
	for _, n := range nodes {
		f.Located(n)
	}
	f.Advise(remedy.Words("Give every machine a host name of its own (it must survive a reboot), or set nfs4_unique_id of module nfs before the first mount. Only then mount everything anew: drain the nodes, or delete all pods that use the share there."))
	for _, x := range c.volume.Live() {
		f.Pod(x.Pod)
		if slices.Contains(nodes, x.Node()) && !x.Terminating() {
			f.Advise(remedy.DeletePod(x.Pod).Note("It uses the share on node %s; once the host names differ its new mount has a name of its own.", x.Node()))
		}
	}
	f.Unless("different host names or unique ids of the nodes that mount the server")
	return f
}
