package render

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// causes prints each root with what is nested below it.
func (p *page) causes() {
	for i, c := range p.r.RootCauses {
		word := "CAUSE"
		if len(p.r.RootCauses) > 1 {
			word = fmt.Sprintf("CAUSE %d of %d", i+1, len(p.r.RootCauses))
		}
		p.title(word)
		p.cause(c)
		p.nested(c.ID, 1)
	}
}

func (p *page) cause(c report.Cause) {
	p.printf("  %s  %s, %s\n", p.in(bold, c.Name), sureness(c), p.in(severityColor[string(c.Severity)], string(c.Severity)))
	p.text("  on ", c.Subject.String())
	p.printf("\n")
	p.text("  ", c.Message)
	if c.Waiting {
		p.text("  ", "This needs only time: wait, and ask again.")
	}
	p.evidence(c.Evidence)
	p.remarks(c)
	p.remedies(c.Remedies)
}

func (p *page) evidence(list []report.Evidence) {
	if len(list) == 0 {
		return
	}
	p.printf("\n  %s\n", p.in(bold, "Evidence"))
	for _, e := range list {
		p.fact(e)
	}
}

// fact prints where something was read and, indented below it, the words found
// there.
func (p *page) fact(e report.Evidence) {
	where := line(e.Locator)
	if e.Node != "" {
		where = line(e.Node) + ": " + where
	} else if e.Source != "" {
		where = e.Source + ": " + where
	}
	for i, l := range wrap(where, p.limit(6)) {
		lead := "    "
		if i > 0 {
			lead = "      "
		}
		p.printf("%s\n", p.in(dim, lead+l))
	}
	if e.Text == "" {
		return
	}
	for _, l := range strings.Split(strings.TrimRight(e.Text, "\n"), "\n") {
		for i, part := range wrapVerbatim(l, p.limit(10)) {
			lead := "      │ "
			if i > 0 {
				lead = "      │   "
			}
			p.printf("%s\n", strings.TrimRight(lead+part, " "))
		}
	}
}

// remarks are the short lines between evidence and remedies.
func (p *page) remarks(c report.Cause) {
	rows := [][2]string{
		{"Explains", strings.Join(c.Explains, ", ")},
		{"Perhaps because of", strings.Join(c.PerhapsFrom, ", ")},
		{"Includes", strings.Join(c.Yielded, ", ")},
		{"Not confirmed", strings.Join(c.NotConfirmed, "; ")},
		{"Refuted by", c.Refutation},
	}
	first := true
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if first {
			p.printf("\n")
			first = false
		}
		p.hang("  "+row[0]+": ", "    ", row[1])
	}
}

// nested prints the findings that a cause brought about.
func (p *page) nested(parent string, depth int) {
	for _, f := range p.r.Findings {
		if f.CausedBy != parent || depth > deepest {
			continue
		}
		lead := "  " + strings.Repeat("  ", depth-1) + "└─ "
		p.printf("\n%s%s  %s, %s\n", lead, p.in(bold, f.Name), f.Certainty, f.Severity)
		rest := strings.Repeat(" ", columns(lead))
		p.text(rest+"on ", f.Subject.String())
		p.text(rest, f.Message)
		for _, e := range f.Evidence {
			p.hang(rest+"· ", rest+"  ", strings.TrimSpace(line(e.Node+" "+e.Locator)+": "+line(e.Text)))
		}
		for _, m := range f.Remedies {
			p.hang(rest+"→ ", rest+"  ", strings.TrimSpace(m.Title+" "+m.Settle))
		}
		p.nested(f.ID, depth+1)
	}
}
