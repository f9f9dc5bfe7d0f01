package render

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// quietLines is how many lines an answer may take where nothing else is said: what keeps a pod whose volumes are well.
const quietLines = 4

// quiet prints an answer without a fault in one to four lines.
func (p *page) quiet() {
	r := p.r
	var parts []string
	if at := p.mounted(); at != "" && r.Verdict == report.Healthy {
		parts = append(parts, at)
	}
	switch {
	case r.Verdict != report.Healthy:
		p.text("  ", p.names.prose(r.Summary))
	case r.Summary != report.NothingFound && r.Summary != "":
		p.text("  ", p.shorter(p.names.prose(r.Summary), quietLines))
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
	p.text("  ", p.shorter(p.short(p.names.prose(opening(c.Message))), answerLines))
	p.joinedIn(dim, "  ", []string{string(c.Certainty), c.Name, "needs only time", "more: -o wide"})
}

// shorter takes from a sentence that is too long what is said least: its last clauses,
// then the middles of its names, then its end.
func (p *page) shorter(s string, lines int) string {
	fits := func(s string) bool { return len(wrap(s, p.limit(2))) <= lines }
	for at := clause(s); at > 0 && !fits(s); at = clause(s) {
		s = s[:at] + "."
		if strings.Count(s, "(") > strings.Count(s, ")") {
			s = s[:at] + " …)."
		}
	}
	if !fits(s) {
		s = eachWord(s, longPath/2)
	}
	for !fits(s) {
		at := strings.LastIndex(strings.TrimSuffix(s, " …"), " ")
		if at <= 0 {
			break
		}
		s = s[:at] + " …"
	}
	return s
}

// clause is where the last clause of a sentence begins, or -1: what stands before it says
// something alone. The clauses of what is quoted are none of the sentence.
func clause(s string) int {
	at := -1
	for _, sign := range []string{": ", "; ", ", so ", ", because ", ", and "} {
		at = max(at, strings.LastIndex(s, sign))
	}
	if at > 0 && strings.Count(s[:at], `"`)%2 == 1 {
		return clause(s[:strings.LastIndex(s[:at], `"`)])
	}
	return at
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
