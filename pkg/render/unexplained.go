package render

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// puzzle prints symptoms without a cause: where it hurts, in whose words, and what
// nobody looked at. Symptoms that rest on the same text are said once.
func (p *page) puzzle(list []report.Unexplained) {
	if len(list) == 0 {
		return
	}
	u := list[0]
	if len(p.r.RootCauses) == 0 {
		p.text("  ", p.names.prose(opening(u.Message)))
		words := []string{"unexplained", u.Name}
		if v := p.names.volume; v != "" {
			words = append(words, "volume "+v)
		}
		p.joined("  ", words)
		p.title("WHERE IT STOPS")
		p.path()
	} else {
		p.title("UNEXPLAINED")
		p.hang("  "+u.Name+"  ", "    ", p.names.prose(opening(u.Message)))
	}
	p.facts(quotedOnce(list))
	p.alsoUnexplained(list)
	p.unseen(list)
}

// quotedOnce collects the evidence of symptoms, each text once: a component's words
// come back inside those of its caller.
func quotedOnce(list []report.Unexplained) []report.Evidence {
	var out []report.Evidence
	for _, u := range list {
		for _, e := range u.Evidence {
			if !slices.ContainsFunc(out, func(o report.Evidence) bool {
				return strings.Contains(o.Text, e.Text) || len(o.Text) > longPath && strings.Contains(e.Text, o.Text)
			}) {
				out = append(out, e)
			}
		}
	}
	return out
}

// alsoUnexplained names the other symptoms, equal ones together.
func (p *page) alsoUnexplained(list []report.Unexplained) {
	var names []string
	on := map[string][]string{}
	for _, u := range list[1:] {
		if on[u.Name] == nil {
			names = append(names, u.Name)
		}
		on[u.Name] = append(on[u.Name], spoken(u.Subject))
	}
	for _, n := range names {
		subjects := on[n]
		if len(subjects) > 3 {
			subjects = append(subjects[:3:3], plural(len(subjects)-3, "other"))
		}
		p.hang("  also "+n+"  ", "    ", brief(strings.Join(subjects, ", ")))
	}
}

// unseen prints what was not looked at and which causes that leaves possible.
func (p *page) unseen(list []report.Unexplained) {
	var blocks []string
	by := map[string][]string{}
	for _, u := range list {
		for _, c := range u.CouldBe {
			if by[c.BlockedBy] == nil {
				blocks = append(blocks, c.BlockedBy)
			}
			if !slices.Contains(by[c.BlockedBy], c.Cause) {
				by[c.BlockedBy] = append(by[c.BlockedBy], c.Cause)
			}
		}
	}
	if len(blocks) == 0 {
		return
	}
	p.title("NOT LOOKED AT")
	for _, b := range blocks {
		need, rest, _ := strings.Cut(b, ": ")
		p.hang("  ", "    ", strings.TrimSpace(needWords(need)+": "+rest)+", leaves open "+p.few(by[b]))
	}
}

// few lists names, at most four of them.
func (p *page) few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + plural(len(names)-most, "other")
}
