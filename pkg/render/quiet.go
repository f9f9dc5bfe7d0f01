package render

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// quiet prints an answer without a fault in one to four lines.
func (p *page) quiet() {
	r := p.r
	var parts []string
	if at := p.mounted(); at != "" && r.Verdict == report.Healthy {
		parts = append(parts, at)
	}
	if r.Verdict != report.Healthy {
		p.text("  ", p.names.prose(r.Summary))
	}
	if r.Counts.CausesExcluded > 0 && r.Verdict != report.Waiting {
		parts = append(parts, fmt.Sprintf("%s excluded", plural(r.Counts.CausesExcluded, "cause")))
	}
	if len(r.NotChecked) == 0 {
		parts = append(parts, "everything was checked")
	}
	if n := len(r.Noise); n > 0 {
		parts = append(parts, plural(n, "oddity")+" without harm (-o wide)")
	}
	if len(parts) > 0 {
		p.joined("  ", parts)
	}
	p.open("  ")
}

// wait prints a cause that only needs time: what it is, and that it ends by itself.
func (p *page) wait(c report.Cause) {
	const most = 2
	s := p.short(p.names.prose(opening(c.Message)))
	for room := most * p.limit(2); len(wrap(s, p.limit(2))) > most; room-- {
		s = middleWords(s, room)
	}
	p.text("  ", s)
	p.printf("  %s\n", p.in(dim, string(c.Certainty)+" · "+c.Name+" · needs only time · more: -o wide"))
}

// mounted says where the volume is in use: "mounted on kube-b from sdc (8:32)".
func (p *page) mounted() string {
	for _, l := range p.r.Chain {
		if l.Kind != "Device" {
			continue
		}
		where, kernel, _ := strings.Cut(l.Name, " ")
		node, number, _ := strings.Cut(where, "/")
		if kernel == "" {
			return "on " + node + " as " + number
		}
		return fmt.Sprintf("on %s as %s (%s)", node, kernel, number)
	}
	for _, l := range p.r.Chain {
		if l.Kind == "Pod" && settled(l) {
			return strings.TrimSpace("in use " + l.Note)
		}
	}
	return ""
}
