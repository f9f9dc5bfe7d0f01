package render

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// PreflightFormats are the values of -o of a preflight.
var PreflightFormats = []string{"text", "wide", "json", "yaml", "brief", "junit"}

// Preflight prints what nodes lack for storage in one of the PreflightFormats.
func Preflight(w io.Writer, p *report.Preflight, format string, o Options) error {
	p = report.VisiblePreflight(p)
	switch format {
	case "", "text", "wide":
		o.Wide = format == "wide"
		return preflightText(w, p, o)
	case "json":
		return writeJSON(w, p)
	case "yaml":
		return writeYAML(w, p)
	case "brief":
		return preflightBrief(w, p)
	case "junit":
		return preflightJUnit(w, p)
	}
	return fmt.Errorf("unknown output format %q, want one of %s", format, strings.Join(PreflightFormats, ", "))
}

func preflightText(w io.Writer, f *report.Preflight, o Options) error {
	out := bufio.NewWriter(w)
	r := &report.Report{TakenAt: f.TakenAt, ReadAt: f.ReadAt}
	p := &page{Writer: out, Options: o, paint: paint{o.Color}, r: r, names: namesOf(r), said: map[string]bool{}}
	p.preflightHead(f)
	p.preflightTable(f.Nodes)
	for _, g := range groups(f.Nodes) {
		switch g.check.Outcome {
		case report.LacksIt, report.AtRisk:
			p.lacking(g)
		}
	}
	p.unlooked(f)
	if o.Wide {
		p.passed(f.Nodes)
	} else if len(f.Nodes) > 0 {
		p.printf("\n%s\n", p.in(dim, "more: -o wide (what passed, with its evidence) · -o json"))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

var preflightColor = map[string]string{
	report.Ready: bold + green, report.NotReady: bold + red, report.UnknownState: bold + yellow,
	report.LacksIt: bold + red, report.AtRisk: bold + yellow,
}

// preflightHead says how many nodes are ready, for what, and why for just that.
func (p *page) preflightHead(f *report.Preflight) {
	word := strings.ToUpper(strings.ReplaceAll(f.Verdict, "-", " "))
	ready := 0
	for _, n := range f.Nodes {
		if n.Verdict == report.Ready {
			ready++
		}
	}
	text := fmt.Sprintf("%d of %s ready", ready, plural(len(f.Nodes), "node"))
	if len(f.Nodes) == 1 {
		text = "node " + f.Nodes[0].Name
	}
	gap := max(p.width()-columns(word+"  "+text)-columns(f.TakenAt), 2)
	p.printf("%s  %s%s%s\n", p.in(preflightColor[f.Verdict], word), text, strings.Repeat(" ", gap), p.in(dim, f.TakenAt))
	var because []string
	by := map[string][]string{}
	for _, s := range f.Storage {
		if !slices.Contains(because, s.Because) {
			because = append(because, s.Because)
		}
		by[s.Because] = append(by[s.Because], s.Name)
	}
	for i, b := range because {
		because[i] = strings.Join(by[b], ", ") + " (" + b + ")"
	}
	p.text("  for ", strings.Join(because, "; ")+".")
	if f.Error != "" {
		p.text("  error: ", f.Error)
	}
}

func (p *page) preflightTable(nodes []report.PreflightNode) {
	if len(nodes) == 0 {
		return
	}
	rows := [][]string{}
	for _, n := range nodes {
		row := []string{n.Name, shortSystem(n.System), shortKernel(n.Kernel), strings.ToUpper(strings.ReplaceAll(n.Verdict, "-", " "))}
		for _, outcome := range []string{report.LacksIt, report.AtRisk, report.NotLookedAt, report.Passed} {
			row = append(row, strconv.Itoa(n.Count(outcome)))
		}
		rows = append(rows, row)
	}
	p.printf("\n")
	p.table([]string{"NODE", "SYSTEM", "KERNEL", "VERDICT", "FAILED", "RISKS", "UNCHECKED", "PASSED"}, rows, 0, 7, 2, 1)
}

// shortSystem is the name of a distribution as a table has room for it, as in
// "Debian 12": without its code name, and what all names of its kind say.
func shortSystem(name string) string {
	name, code, _ := strings.Cut(name, " (")
	if strings.HasPrefix(code, "v") { // Talos has its version there
		name += " " + strings.TrimSuffix(code, ")")
	}
	return strings.Join(strings.Fields(longNames.Replace(name)), " ")
}

var longNames = strings.NewReplacer("SUSE Linux Enterprise Server", "SLES", "SUSE Linux Enterprise Micro", "SLE Micro",
	"Red Hat Enterprise Linux CoreOS", "RHCOS", "Red Hat Enterprise Linux", "RHEL", "Container-Optimized OS from Google", "COS",
	"Flatcar Container Linux by Kinvolk", "Flatcar", "GNU/Linux", "", " Linux", "", " LTS", "")

// shortKernel is a kernel's release without the machine, which ends it on most systems.
func shortKernel(release string) string {
	for _, machine := range []string{".x86_64", ".aarch64", ".s390x", ".ppc64le"} {
		release = strings.TrimSuffix(release, machine)
	}
	return release
}

// group is one outcome of a check on several nodes.
type group struct {
	check report.Check // of the first of them
	nodes []string
}

// groups joins equal outcomes of one check, the worst first.
func groups(nodes []report.PreflightNode) []group {
	var out []group
	at := map[string]int{}
	for _, n := range nodes {
		for _, c := range n.Checks {
			key := []string{c.Name, c.Outcome, c.Message, c.Reason}
			for _, m := range c.Remedies {
				key = append(key, m.Title)
			}
			k := strings.Join(key, "\n")
			if i, ok := at[k]; ok {
				out[i].nodes = append(out[i].nodes, n.Name)
				continue
			}
			at[k] = len(out)
			out = append(out, group{c, []string{n.Name}})
		}
	}
	rank := []string{report.LacksIt, report.AtRisk, report.NotLookedAt, report.Passed}
	slices.SortStableFunc(out, func(a, b group) int {
		return slices.Index(rank, a.check.Outcome) - slices.Index(rank, b.check.Outcome)
	})
	return out
}

// lacking prints one failed check with what helps, once for all nodes that fail alike.
func (p *page) lacking(g group) {
	c := g.check
	p.printf("\n")
	p.hang(p.in(preflightColor[c.Outcome], strings.ToUpper(c.Outcome))+"  ", "        ", c.Name+wantedBy(c)+" on "+p.some(g.nodes))
	p.text("  ", c.Message)
	clear(p.said) // each check stands for itself
	for i, m := range c.Remedies {
		p.step(i+1, i > 1, m)
	}
	if len(g.nodes) > 1 && slices.ContainsFunc(c.Remedies, func(m report.Remedy) bool { return len(m.Commands) > 0 }) {
		p.text("     ", "The commands are those for "+g.nodes[0]+"; -o json has those of the others.")
	}
	p.afterwards(c.Remedies)
	for _, e := range c.Evidence {
		p.hang("  "+p.in(dim, strings.TrimSpace(e.Node+"  "+e.Locator))+"  ", "    ", line(e.Text))
	}
}

func wantedBy(c report.Check) string {
	if len(c.For) == 0 {
		return ""
	}
	return " (" + strings.Join(c.For, ", ") + ")"
}

// mostNames is how many nodes a line names.
const mostNames = 8

func (p *page) some(nodes []string) string {
	if p.Wide || len(nodes) <= mostNames {
		return strings.Join(nodes, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(nodes[:mostNames], ", "), len(nodes)-mostNames)
}

// unlooked lists what was not checked: nodes of which nothing was, and single checks.
func (p *page) unlooked(f *report.Preflight) {
	var lines []string
	blind, reasons := map[string]bool{}, map[string][]string{}
	for _, n := range f.Nodes {
		if n.Reason != "" {
			blind[n.Name], reasons[n.Reason] = true, append(reasons[n.Reason], n.Name)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		lines = append(lines, "what only the node itself can tell, on "+p.some(reasons[r])+" ("+r+")")
	}
	for _, g := range groups(f.Nodes) {
		nodes := slices.DeleteFunc(slices.Clone(g.nodes), func(n string) bool { return blind[n] })
		if g.check.Outcome == report.NotLookedAt && len(nodes) > 0 {
			lines = append(lines, g.check.Name+" on "+p.some(nodes)+" ("+g.check.Reason+")")
		}
	}
	for _, n := range f.NotChecked {
		lines = append(lines, strings.TrimSpace(n.Need+" ("+n.Reason+") "+n.Detail))
	}
	if len(lines) == 0 {
		return
	}
	p.printf("\n%s\n", p.in(bold, "NOT CHECKED"))
	for _, l := range lines {
		p.hang("  ", "    ", l)
	}
}

func (p *page) passed(nodes []report.PreflightNode) {
	for _, n := range nodes {
		p.title("PASSED on " + n.Name)
		for _, c := range n.Checks {
			if c.Outcome != report.Passed {
				continue
			}
			p.printf("  %s%s: %s\n", c.Name, wantedBy(c), c.Message)
			for _, e := range c.Evidence {
				p.printf("    %s  %s\n", p.in(dim, e.Locator), line(e.Text))
			}
		}
	}
}
