package nfs

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// nobody is how the owner that could not be translated is shown: 65534, or 4294967294 of
// an older kernel, with its name.
var nobody = pattern.MustCompile(`\bnobody\b|\bnfsnobody\b|\bnogroup\b|\b65534\b|\b4294967294\b`)

var nobodyWords = []string{"nobody", "nogroup", "65534", "4294967294"}

// OwnedByNobody asks whether a pod with the volume on the place's node complains itself:
// without that, a difference of domains harms nobody.
func OwnedByNobody(pl *evidence.Place) (*snapshot.Consumer, evidence.Answer) {
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		for l := range evidence.Lines(pl.X.LogsOf(c.Pod.Namespace, c.Pod.Name)) {
			named := evidence.ContainsAny(l.Text, nobodyWords...)
			if named && nobody.MatchString(l.Text) {
				said := l.Evidence()
				said.Node = pl.Node
				return c, evidence.Yes(said)
			}
		}
	}
	return nil, evidence.No()
}

// Domains are those in which the client and the server of a volume write owners.
type Domains struct {
	Mine, Theirs string
	Differ       evidence.Answer
	Server       evidence.Answer // that the server's was read
	Names        evidence.Answer // that the client translates names at all
}

// DomainsOf compares them for a mount of NFSv4 on the place's node: NFSv3 knows numbers only.
func DomainsOf(pl *evidence.Place) Domains {
	d := Domains{Differ: evidence.No()}
	server, _ := MountedServer(pl.X, pl.Volume)
	if server == "" {
		return d
	}
	if pl.View == nil {
		d.Differ = pl.Probed().Nothing()
		return d
	}
	var line report.Evidence
	for _, m := range mountsOf(pl.X, pl.Volume, pl.Node) {
		if strings.HasPrefix(m.SuperValue("vers"), "4") {
			line = evidence.FromMount(pl.Node, nil, m.Mount)
		}
	}
	mine, from := domainOf(pl.View)
	theirs, fact, on := serverDomain(pl, server)
	if line.Locator == "" || from == "" || theirs == "" {
		return d
	}
	d.Mine, d.Theirs = from, theirs
	d.Differ = evidence.When(!strings.EqualFold(from, theirs), mine, line, fact)
	read := evidence.Tables(pl.X, pl.Node, probes.Files)
	if on == "" {
		read = read.And(evidence.Partial(evidence.Lack{Need: "the domain of the server", Why: "Longhorn's share-manager uses localdomain"}))
	} else {
		read = read.And(evidence.Tables(pl.X, on, probes.Files))
	}
	d.Server, d.Names = read.Nothing(), translates(pl)
	return d
}

// translates asks whether the client asks for names: with Y it still translates what the
// server sends as a name (nfs4_disable_idmapping).
func translates(pl *evidence.Place) evidence.Answer {
	const parameter = "sys/module/nfs/parameters/nfs4_disable_idmapping"
	s := strings.TrimSpace(pl.View.Facts.Files[parameter].Content)
	if s == "N" {
		return evidence.Yes()
	}
	why := parameter + " is " + s + ", which still translates what the server sends as a name"
	if s == "" {
		why = parameter + " was not read"
	}
	return evidence.Unseen(evidence.Lack{Need: "whether node " + pl.Node + " translates names at all", Node: pl.Node, Why: why})
}

var domainLine = pattern.MustCompile(`(?i)^\s*Domain\s*=\s*(\S+)`)

// domainOf is the domain of a host's NFSv4 names: idmapd.conf, else what the host's own
// name ends with (libnfsidmap, domain_from_dns), else localdomain.
func domainOf(view *snapshot.NodeView) (report.Evidence, string) {
	files := view.Facts.Files
	conf, read := files["etc/idmapd.conf"]
	for i, l := range strings.Split(conf.Content, "\n") {
		if m := domainLine.FindStringSubmatch(l); m != nil {
			return evidence.FromNode(view.Name, fmt.Sprintf("etc/idmapd.conf:%d", i+1), strings.TrimSpace(l)), m[1]
		}
	}
	host := view.Facts.Identity.Hostname
	if _, d, ok := strings.Cut(host, "."); ok {
		return evidence.FromNode(view.Name, "@hostname", host), d
	}
	for i, l := range strings.Split(files["etc/hosts"].Content, "\n") {
		for _, name := range strings.Fields(strings.SplitN(l, "#", 2)[0]) {
			if d, ok := strings.CutPrefix(name, host+"."); ok && host != "" {
				return evidence.FromNode(view.Name, fmt.Sprintf("etc/hosts:%d", i+1), strings.TrimSpace(l)), d
			}
		}
	}
	if !read || conf.Err != "" {
		return report.Evidence{}, ""
	}
	return evidence.FromNode(view.Name, "etc/idmapd.conf", "no Domain"), "localdomain"
}

// serverDomain is the server's domain: read on the server when it is a node that was
// looked at, known of Longhorn's share-manager.
func serverDomain(pl *evidence.Place, server string) (domain string, fact report.Evidence, node string) {
	if pl.Volume.RegularRWX() {
		return "localdomain", report.Evidence{}, ""
	}
	for _, n := range pl.X.Cluster.Nodes {
		if view := pl.X.View(n.Name); view != nil && snapshot.HasAddress(n, server) {
			e, d := domainOf(view)
			return d, e, n.Name
		}
	}
	return "", report.Evidence{}, ""
}
