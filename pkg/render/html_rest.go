package render

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// deepest is how many levels of consequences are printed.
const deepest = 8

func (p *html5) unexplained() {
	said := map[string]bool{}
	for _, u := range p.r.Unexplained {
		p.raw("<section>")
		answer := p.names.theVolume(either(u.Answer, u.Message))
		if said[answer] {
			p.el("p", "sure", "also unexplained, alike · "+u.Name+" · "+spoken(u.Subject))
			p.evidence("Evidence", slices.Concat(u.Evidence, u.Seen))
			p.raw("</section>")
			continue
		}
		said[answer] = true
		p.el("p", "answer", answer)
		p.el("p", "sure", "unexplained · "+u.Name+" · "+spoken(u.Subject))
		p.evidence("Evidence", slices.Concat(u.Evidence, u.Seen))
		p.ruledOut(u)
		p.looks(u.Next)
		if len(u.CouldBe) > 0 {
			p.raw("<details>")
			p.el("summary", "", plural(len(u.CouldBe), "cause")+" could not be checked")
			p.raw("<ul>")
			for _, c := range u.CouldBe {
				p.el("li", "", c.Cause+": "+c.BlockedBy)
			}
			p.raw("</ul>\n</details>")
		}
		p.raw("</section>")
	}
}

// ruledOut says what it is not, and what works beside it.
func (p *html5) ruledOut(u report.Unexplained) {
	var words []string
	for _, x := range u.RuledOut {
		words = append(words, x.Words)
	}
	p.el("p", "note", labelled("ruled out", strings.Join(words, " · ")))
	p.el("p", "note", labelled("works", strings.Join(u.Works, " · ")))
}

// looks are the commands that may tell more.
func (p *html5) looks(list []report.Remedy) {
	if len(list) == 0 {
		return
	}
	p.raw("<h3>Look next</h3>\n<ol>")
	for _, m := range list {
		p.step(m)
	}
	p.raw("</ol>")
}

// either is the first of two texts that says something.
func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// volumes is the table of a node.
func (p *html5) volumes() {
	var rows [][]string
	for _, v := range p.r.Volumes {
		rows = append(rows, []string{v.Claim, v.Volume, v.Pod, v.Device, v.Mount, v.State})
	}
	p.table("Volumes", []string{"claim", "volume", "pod", "device", "mount", "state"}, rows, nil)
}

// chain is the whole table of objects.
func (p *html5) chain() {
	var rows [][]string
	var broken []bool
	for _, l := range p.r.Chain {
		rows = append(rows, []string{shortKind(l.Kind), l.Name, l.State, lasting(l.Since, p.r.TakenAt), l.Note})
		broken = append(broken, l.Broken)
	}
	p.table("Chain", []string{"object", "name", "state", "since", "note"}, rows, broken)
}

// table prints rows; on a phone each becomes a block of its own (page.css).
func (p *html5) table(title string, head []string, rows [][]string, broken []bool) {
	if len(rows) == 0 {
		return
	}
	p.raw("<h2>" + title + "</h2>\n<table>\n<thead><tr>")
	for _, h := range head {
		p.el("th", "", h)
	}
	p.raw("</tr></thead>\n<tbody>")
	for i, r := range rows {
		if i < len(broken) && broken[i] {
			p.raw(`<tr class="broken">`)
		} else {
			p.raw("<tr>")
		}
		for _, c := range r {
			if c == "" {
				p.raw("<td></td>")
			}
			p.el("td", "", c)
		}
		p.raw("</tr>")
	}
	p.raw("</tbody>\n</table>")
}

// rest is what explains nothing, what was not checked and the story, folded.
func (p *html5) rest() {
	var symptoms, noise, gaps, story []string
	for _, s := range p.r.Symptoms {
		by := strings.Join(s.ExplainedBy, ", ")
		if by == "" {
			by = "not explained"
		}
		symptoms = append(symptoms, s.Name+" on "+spoken(s.Subject)+" ← "+by)
	}
	for _, n := range p.r.Noise {
		noise = append(noise, n.Name+" on "+spoken(n.Subject)+": "+n.Message+" "+because(n.Because))
	}
	for _, n := range p.r.NotChecked {
		gaps = append(gaps, gapWords(n))
	}
	for _, m := range p.r.Timeline {
		story = append(story, m.At+"  "+m.What)
	}
	p.list("Not checked", gaps)
	p.list("Symptoms", symptoms)
	p.list("Noise: seen, explains nothing", noise)
	p.list("Timeline", story)
}

// gapWords says what was not checked, why, and what that leaves open.
func gapWords(n report.NotChecked) string {
	s := needWords(n.Need) + ": " + n.Reason
	if n.Detail != "" {
		s += ", " + n.Detail
	}
	if len(n.Causes) > 0 {
		s += "; leaves open " + strings.Join(n.Causes, ", ")
	}
	return s
}

func (p *html5) list(title string, rows []string) {
	if len(rows) == 0 {
		return
	}
	p.raw("<details>")
	p.el("summary", "", title+" ("+plural(len(rows), "line")+")")
	p.raw("<ul>")
	for _, r := range rows {
		p.el("li", "", r)
	}
	p.raw("</ul>\n</details>")
}
