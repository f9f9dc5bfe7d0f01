package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_idmap_mismatch.md
var nfsIdmapMismatchDoc string

// NFSIdmapMismatch finds clients that read owners in another domain than the server
// writes them, so that everything belongs to nobody.
var NFSIdmapMismatch = &diagnosis.Rule{
	Name: "nfs-idmap-mismatch", Layer: diagnosis.Transport, Severity: report.Degraded,
	Needs:    []diagnosis.Need{diagnosis.Probe("hostfiles")},
	Explains: []string{"volume-io-error"},
	Doc:      nfsIdmapMismatchDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, c := range v.Live() {
				if line, ok := ownedByNobody(p, c); ok && idmapMismatch(p, v, c, line) {
					break
				}
			}
		}
	},
}

// nobody is how the owner that could not be translated is shown: 65534, or
// 4294967294 of an older kernel, with its name.
var nobody = regexp.MustCompile(`\bnobody\b|\bnfsnobody\b|\bnogroup\b|\b65534\b|\b4294967294\b`)

// ownedByNobody finds the application's own complaint: without one, a difference
// of domains harms nobody.
func ownedByNobody(p *diagnosis.Pass, c *snapshot.Consumer) (report.Evidence, bool) {
	for _, l := range p.LogsOf(c.Pod.Namespace, c.Pod.Name) {
		for i := len(l.Lines) - 1; i >= 0; i-- {
			if nobody.MatchString(l.Lines[i]) {
				where := fmt.Sprintf("logs/%s/%s/%s:%d", l.Namespace, l.Pod, l.Container, i+1)
				return report.Evidence{Source: "log", Node: c.Node(), Locator: where, Text: l.Lines[i]}, true
			}
		}
	}
	return report.Evidence{}, false
}

// idmapMismatch compares the domains of client and server; true when it reported.
func idmapMismatch(p *diagnosis.Pass, v *snapshot.Volume, c *snapshot.Consumer, said report.Evidence) bool {
	server, _ := mountedServer(p, v)
	if server == "" {
		return false
	}
	view, ok := p.Probed(c.Node())
	if !ok {
		return false
	}
	var at *snapshot.VolumeMount
	for _, m := range p.VolumeMounts(v, c.Node()) {
		if x, isNFS := asNFS(m.Mount); isNFS && strings.HasPrefix(x.SuperValue("vers"), "4") {
			at = &m
		}
	}
	if at == nil {
		return false // NFSv3 knows numbers only
	}
	mine, from := domainOf(view)
	theirs, serverFact := serverDomain(p, v, server)
	if mine.Text == "" || theirs == "" || strings.EqualFold(from, theirs) {
		return false
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name)).On(v).Located(view.Name)
	f.Pod(c.Pod)
	f.Sayf("Pod %s/%s on node %s sees the files of volume %s as nobody's: the node translates NFSv4 owner names in the domain %q, and the server writes them in %q, so no name is known. The setting is Domain in /etc/idmapd.conf.",
		c.Pod.Namespace, c.Pod.Name, view.Name, volumeName(v), from, theirs)
	f.Fact(said, mine, diagnosis.FromNode(view.Name, fmt.Sprintf("proc/1/mountinfo:%d", at.Mount.Line), at.Mount.Raw))
	if serverFact.Text != "" {
		f.Fact(serverFact)
	} else {
		f.Missing("the domain of the server (Longhorn's share-manager uses localdomain)")
	}
	const parameter = "sys/module/nfs/parameters/nfs4_disable_idmapping"
	if s := strings.TrimSpace(view.Facts.Files[parameter].Content); s != "N" {
		f.Missing("whether names are translated at all (" + parameter + " is " + orDefault(s, "not read") + "; Y still translates what the server sends as a name)")
		f.Fact(diagnosis.FromNode(view.Name, parameter, s))
	}
	f.Unless("the same Domain on both sides, or numeric owners in a listing")
	f.Advise(remedy.Words("Set Domain = "+theirs+" in /etc/idmapd.conf of node "+view.Name+", clear the cached names (nfsidmap -c) and let the pod mount the volume anew. It changes the owners of all NFSv4 mounts of this host: check that no other server needs the old domain.").
		In("/etc/idmapd.conf", remedy.IDMapDomain(theirs)...))
	p.Report(f)
	return true
}

var domainLine = regexp.MustCompile(`(?i)^\s*Domain\s*=\s*(\S+)`)

// domainOf is the domain of a host's NFSv4 names: idmapd.conf, else what the host's
// own name ends with (libnfsidmap, domain_from_dns), else localdomain.
func domainOf(view *snapshot.NodeView) (report.Evidence, string) {
	files := view.Facts.Files
	conf, read := files["etc/idmapd.conf"]
	for i, l := range strings.Split(conf.Content, "\n") {
		if m := domainLine.FindStringSubmatch(l); m != nil {
			return diagnosis.FromNode(view.Name, fmt.Sprintf("etc/idmapd.conf:%d", i+1), strings.TrimSpace(l)), m[1]
		}
	}
	host := view.Facts.Identity.Hostname
	if _, d, ok := strings.Cut(host, "."); ok {
		return diagnosis.FromNode(view.Name, "@hostname", host), d
	}
	for i, l := range strings.Split(files["etc/hosts"].Content, "\n") {
		for _, name := range strings.Fields(strings.SplitN(l, "#", 2)[0]) {
			if d, ok := strings.CutPrefix(name, host+"."); ok && host != "" {
				return diagnosis.FromNode(view.Name, fmt.Sprintf("etc/hosts:%d", i+1), strings.TrimSpace(l)), d
			}
		}
	}
	if !read {
		return report.Evidence{}, ""
	}
	return diagnosis.FromNode(view.Name, "etc/idmapd.conf", "no Domain"), "localdomain"
}

// serverDomain is the server's domain: read on the server when it is a probed node,
// known of Longhorn's share-manager.
func serverDomain(p *diagnosis.Pass, v *snapshot.Volume, server string) (string, report.Evidence) {
	if v.RegularRWX() {
		return "localdomain", report.Evidence{}
	}
	for _, n := range p.Cluster.Nodes {
		for _, a := range n.Status.Addresses {
			if a.Address == server && p.View(n.Name) != nil {
				e, d := domainOf(p.View(n.Name))
				return d, e
			}
		}
	}
	return "", report.Evidence{}
}
