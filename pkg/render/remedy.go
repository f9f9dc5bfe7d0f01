package render

import (
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// safety says what was seen that makes the commands of a step safe.
func safety(m report.Remedy) []string {
	var out []string
	for _, e := range m.SafeBecause {
		where := strings.TrimSpace(e.Node + " " + e.Locator)
		out = append(out, strings.TrimSuffix(where+": "+report.Line(e.Text), ": "))
	}
	return out
}

// config prints lines for a configuration file so that they can be copied: whole and
// never wrapped; in one report each block once.
func (p *page) config(indent string, c *report.Config) {
	if c == nil {
		return
	}
	block := c.File + "\n" + strings.Join(c.Lines, "\n")
	if p.said[block] {
		return
	}
	if p.said != nil {
		p.said[block] = true
	}
	p.printf("%s%s\n", indent, p.in(dim, c.File+":"))
	for _, l := range c.Lines {
		p.printf("%s    %s\n", indent, p.in(cyan, l))
	}
}

// age is how old the evidence of a report was when the report was written, or empty
// where that does not matter.
func age(r *report.Report) string {
	taken, err1 := time.Parse(time.RFC3339, r.TakenAt)
	read, err2 := time.Parse(time.RFC3339, r.ReadAt)
	if err1 != nil || err2 != nil {
		return ""
	}
	return report.Duration(int64(read.Sub(taken) / time.Second))
}

// old is the warning above each command that changes something, in a report that is
// read later than its evidence.
func old(r *report.Report, m report.Remedy) string {
	if a := age(r); a != "" && m.Risk != "" && m.Risk != readOnly && len(m.Commands) > 0 {
		return "This was seen " + a + " ago: look again first."
	}
	return ""
}
