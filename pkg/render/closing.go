package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// closing ends a report: what the answer covers, what was not seen, where to read on.
func (p *page) closing() {
	var parts []string
	if n := explained(p.r); n > 0 {
		parts = append(parts, fmt.Sprintf("explains %d of %s", n, plural(present(p.r.Symptoms), "symptom")))
	}
	if n := risks(p.r.Findings); n > 0 {
		parts = append(parts, plural(n, "risk"))
	}
	if n := len(p.r.Noise); n > 0 {
		parts = append(parts, plural(n, "oddity")+" without harm")
	}
	if len(p.r.NotChecked) == 0 {
		parts = append(parts, "everything was checked")
	}
	line := strings.Join(parts, " · ")
	if one := line + " · not checked: " + p.gapLine(); line != "" && len(p.r.NotChecked) > 0 && columns(one) <= p.width() {
		p.printf("\n%s\n", one)
	} else {
		p.printf("\n")
		if line != "" {
			p.text("", line)
		}
		p.open("")
	}
	p.rights()
	p.more()
}

// rights says what to ask whom: what a person may not read, an administrator can.
func (p *page) rights() {
	s := p.r.Subject
	kind := map[string]string{"PersistentVolumeClaim": "pvc", "Pod": "pod"}[s.Kind]
	if kind == "" || !plainName.MatchString(s.Namespace+"/"+s.Name) || !slices.ContainsFunc(p.r.NotChecked, func(n report.NotChecked) bool {
		return n.Reason == "Forbidden" && strings.HasPrefix(n.Need, "api/")
	}) {
		return
	}
	p.text("", "who may read them (deploy/rbac/read.yaml) gets the whole answer:")
	p.command("  ", "kubectl mountdoctor "+kind+" "+s.Name+" -n "+s.Namespace)
}

// plainName is a name that a shell takes as it is.
var plainName = regexp.MustCompile(`^[a-z0-9][-a-z0-9.]*/[a-z0-9][-a-z0-9.]*$`)

// open says in one or two lines what was not checked.
func (p *page) open(indent string) {
	if len(p.r.NotChecked) > 0 {
		p.hang(indent+"not checked: ", indent+"  ", p.gapLine())
	}
}

// gapLine is what was not checked, by its reasons.
func (p *page) gapLine() string {
	var words []string
	for _, g := range gaps(p.r.NotChecked) {
		words = append(words, g.String())
	}
	const most = 3
	if len(words) > most {
		words = append(words[:most], plural(len(words)-most, "other thing"))
	}
	return strings.Join(words, "; ")
}

// gap is what was not checked for one reason.
type gap struct {
	reason string
	what   []string
}

// gaps groups what was not checked by its reason, in the order of the report.
func gaps(list []report.NotChecked) []gap {
	var out []gap
	for _, n := range list {
		what, reason := needWords(n.Need), reasonWords(n)
		i := slices.IndexFunc(out, func(g gap) bool { return g.reason == reason })
		if i < 0 {
			out = append(out, gap{reason: reason})
			i = len(out) - 1
		}
		if !slices.Contains(out[i].what, what) {
			out[i].what = append(out[i].what, what)
		}
	}
	return out
}

// reasonWords is why something was not read, in the words of whoever refused it.
func reasonWords(n report.NotChecked) string {
	switch {
	case n.Reason == "NotServed":
		return "not served"
	case n.Reason == "Moved":
		return "the volume moved on during the look: ask again"
	case n.Reason == "NotRequested" && (n.Detail == "" || strings.HasSuffix(n.Detail, " was not probed")):
		return "not probed"
	case n.Reason == "NotRequested" && n.Node != "" && strings.Contains(n.Detail, n.Node): // it was looked at; what is missed is long to say
		return "not seen there"
	case n.Detail == "" || columns(n.Detail) > 2*longPath || n.Node != "" && strings.Contains(n.Detail, n.Node):
		return n.Reason
	case n.Reason == "NotRequested", n.Reason == "NotInBundle":
		return n.Detail
	}
	return n.Reason + ", " + n.Detail
}

func (g gap) String() string {
	const most = 4
	what := sameOfNodes(g.what)
	rest := ""
	if len(what) > most {
		rest = " and " + plural(len(what)-most, "other")
		what = what[:most]
	}
	return strings.Join(what, ", ") + rest + " (" + g.reason + ")"
}

// ofNode takes "kernel log of node a" apart.
var ofNode = regexp.MustCompile(`^(.*)\bnode (\S+)$`)

// sameOfNodes says once what was not read of several nodes: "kernel log of nodes a, b".
func sameOfNodes(list []string) []string {
	var out []string
	nodes, at := map[string][]string{}, map[string]int{}
	for _, w := range list {
		m := ofNode.FindStringSubmatch(w)
		if m == nil {
			out = append(out, w)
			continue
		}
		what := m[1]
		if _, known := at[what]; !known {
			at[what] = len(out)
			out = append(out, w)
		}
		if nodes[what] = append(nodes[what], m[2]); len(nodes[what]) > 1 {
			out[at[what]] = what + "nodes " + few(nodes[what])
		}
	}
	return out
}

// few names the first ones of several things.
func few(names []string) string {
	const most = 4
	if n := len(names) - most; n > 0 {
		return strings.Join(names[:most], ", ") + " and " + plural(n, "other")
	}
	return strings.Join(names, ", ")
}

// needWords says a need as kubectl would: "nodes", "node dell-02", "pods of shop".
func needWords(need string) string {
	if node, ok := strings.CutPrefix(need, "node/"); ok {
		node, probe, _ := strings.Cut(node, "/")
		if probe != "" {
			return probeName(probe) + " of node " + node
		}
		return "node " + node
	}
	if api, ok := strings.CutPrefix(need, "api/"); ok {
		parts := strings.Split(api, "/")
		if len(parts) >= 3 && strings.HasPrefix(parts[2], "!") {
			return parts[1] + " of other namespaces"
		}
		if len(parts) >= 3 {
			return parts[1] + " of namespace " + parts[2]
		}
		return parts[len(parts)-1]
	}
	return need
}

// probeWords are the tables of a node and the probes that read them, in words; a new
// one is named as it is until it has some.
var probeWords = map[string]string{
	"kernelLog": "kernel log", "kmsg": "kernel log", "mounts": "mount tables", "mountns": "mount tables", "descriptors": "open files", "openfiles": "open files",
	"process": "processes", "block": "block devices", "blockdev": "block devices", "deviceNodes": "device nodes", "files": "host files", "hostfiles": "host files",
	"kubelet": "kubelet's directories", "iscsi": "iSCSI sessions", "nvme": "NVMe devices", "rbd": "RBD devices", "multipath": "multipath maps",
	"nfs": "NFS clients", "reach": "connections", "contents": "contents of devices and mounts", "machine": "identity", "swaps": "swap areas", "superblocks": "live filesystems", "claim": "claim test",
}

func probeName(probe string) string {
	if words := probeWords[probe]; words != "" {
		return words
	}
	return probe
}

// more says how to read on, where there is something to read.
func (p *page) more() {
	switch {
	case len(p.r.RootCauses) > 0:
		p.joinedIn(dim, "", []string{"more: -o wide", "kubectl mountdoctor explain " + p.r.RootCauses[0].Name})
		if page := p.pageOf(p.r.RootCauses[0].Name); page != "" {
			p.text("", p.in(dim, page))
		}
	case len(p.r.Unexplained) > 0:
		p.text("", p.in(dim, "more: -o wide"))
	}
}

// explained counts the symptoms that a cause explains which is more than possible.
func explained(r *report.Report) int {
	type what struct {
		name string
		of   report.Subject
	}
	open := map[what]bool{}
	for _, u := range r.Unexplained {
		open[what{u.Name, u.Subject}] = true
	}
	n := 0
	for _, s := range r.Symptoms {
		if len(s.ExplainedBy) > 0 && !s.Past && !open[what{s.Name, s.Subject}] {
			n++
		}
	}
	return n
}

func present(list []report.Symptom) int {
	n := 0
	for _, s := range list {
		if !s.Past {
			n++
		}
	}
	return n
}

func risks(list []report.Cause) int {
	n := 0
	for _, c := range list {
		if c.Severity == report.Risk {
			n++
		}
	}
	return n
}

// plural counts things: "1 risk", "3 risks", "2 oddities".
func plural(n int, word string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(word, "ty"):
		word = strings.TrimSuffix(word, "y") + "ies"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
