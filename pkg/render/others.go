package render

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// others prints further causes: one paragraph each, equal ones together.
func (p *page) others(list []report.Cause) {
	if len(list) == 0 {
		return
	}
	p.title("ALSO")
	for _, g := range sameCause(list) {
		p.group(g)
	}
}

// sameCause groups causes of one name in the order of the report.
func sameCause(list []report.Cause) [][]report.Cause {
	var out [][]report.Cause
	at := map[string]int{}
	for _, c := range list {
		i, known := at[c.Name]
		if !known {
			i = len(out)
			at[c.Name] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

// group prints causes of one name: the first in words, the others by their subjects.
func (p *page) group(g []report.Cause) {
	c := g[0]
	p.text("  ", p.in(bold, c.Name)+"  "+sureness(c)+" · "+spoken(c.Subject)+p.alike(g[1:]))
	p.text("    ", p.names.prose(opening(c.Message)))
	for _, m := range c.Remedies[:min(len(c.Remedies), otherSteps)] {
		p.otherStep(m)
	}
}

// otherSteps is how many steps of a further cause a screen has room for.
const otherSteps = 2

// otherStep prints a step of a further cause, as far as it was not said before.
func (p *page) otherStep(m report.Remedy) {
	if title := p.gist(6, gistLines-1, p.unsaid(p.stepWords(m))); title != "" {
		p.hang("    → ", "      ", title)
	}
	p.config("      ", m.Config)
	for i, command := range m.Commands {
		// A look has further commands in -o wide; what changes something is whole.
		if i > 0 && m.Risk == readOnly {
			break
		}
		if !p.said[command] {
			p.said[command] = true
			p.command("      ", command)
		}
	}
}

// alike names the other subjects of a group, a few of them.
func (p *page) alike(rest []report.Cause) string {
	if len(rest) == 0 {
		return ""
	}
	const most = 3
	var names []string
	for _, c := range rest[:min(len(rest), most)] {
		names = append(names, spoken(c.Subject))
	}
	out := ", " + strings.Join(names, ", ")
	if n := len(rest) - most; n > 0 {
		out += " and " + plural(n, "other")
	}
	return out
}
