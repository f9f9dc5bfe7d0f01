package render

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed page.css
var css string

// HTML prints one page of its own, without scripts, links or anything to load. It is
// written by hand because html/template makes the linker keep every exported method of
// the program (reflect.Type.MethodByName), which is a third of its size.
func HTML(w io.Writer, r *report.Report, o Options) error {
	out := bufio.NewWriter(w)
	p := &html5{Writer: out, r: safe(r), o: o}
	p.names = namesOf(p.r)
	p.page()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// html5 is a page in the making. Only el and raw write to it, and el escapes.
type html5 struct {
	*bufio.Writer
	o     Options
	r     *report.Report
	names names
}

// raw writes markup of ours.
func (p *html5) raw(s string) { fmt.Fprintln(p, s) }

// el writes an element with a text of anybody's.
func (p *html5) el(name, class, text string) {
	if text == "" {
		return
	}
	open := name
	if class != "" {
		open += ` class="` + html.EscapeString(class) + `"`
	}
	fmt.Fprintf(p, "<%s>%s</%s>\n", open, html.EscapeString(text), name)
}

func (p *html5) page() {
	r := p.r
	title := spoken(r.Subject) + " is " + r.Verdict
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")
	p.raw(`<meta name="viewport" content="width=device-width, initial-scale=1">`)
	p.raw(`<meta name="color-scheme" content="light dark">`)
	p.el("title", "", "mountdoctor: "+title)
	p.raw("<style>\n" + css + "</style>\n</head>\n<body>")
	p.raw("<header>")
	p.el("p", "verdict "+r.Verdict, strings.ToUpper(r.Verdict))
	p.el("h1", "", spoken(r.Subject))
	p.el("p", "when", p.when())
	p.raw("</header>\n<main>")
	p.answer()
	for i, c := range r.RootCauses {
		p.cause(i+1, c)
	}
	p.unexplained()
	p.volumes()
	p.chain()
	p.rest()
	p.raw("</main>\n</body>\n</html>")
}

func (p *html5) when() string {
	words := []string{}
	if d := lasting(p.r.Since, p.r.TakenAt); d != "" {
		words = append(words, "for "+d)
	}
	if p.r.TakenAt != "" {
		words = append(words, "seen "+p.r.TakenAt)
	}
	if p.names.volume != "" {
		words = append(words, "volume "+p.names.volume)
	}
	return strings.Join(words, " · ")
}

func (p *html5) answer() {
	if len(p.r.RootCauses) == 0 {
		p.el("p", "answer", p.r.Summary)
	}
	p.el("p", "error", p.r.Error)
	if len(p.r.RootCauses) < 2 {
		return
	}
	p.raw("<nav><ol>")
	for i, c := range p.r.RootCauses {
		fmt.Fprintf(p, "<li><a href=\"#cause-%d\">%s</a></li>\n", i+1, html.EscapeString(c.Name+" on "+spoken(c.Subject)))
	}
	p.raw("</ol></nav>")
}

// cause is a section with an anchor: the answer, the steps, the proof.
func (p *html5) cause(n int, c report.Cause) {
	fmt.Fprintf(p, "<section id=\"cause-%d\">\n", n)
	p.el("p", "answer", p.names.theVolume(c.Message))
	p.el("p", "sure", strings.Join([]string{sureness(c), string(c.Severity), c.Name, spoken(c.Subject)}, " · "))
	if page := p.o.pageOf(c.Name); page != "" {
		fmt.Fprintf(p, "<p class=\"sure\"><a href=\"%s\" rel=\"noreferrer\">about %s</a></p>\n", html.EscapeString(page), html.EscapeString(c.Name))
	}
	if len(c.Remedies) > 0 {
		p.raw("<h2>Fix</h2>\n<ol class=\"steps\">")
		for _, m := range c.Remedies {
			p.step(m)
		}
		p.raw("</ol>")
	}
	if n == 1 {
		p.path()
	}
	p.evidence("Evidence", c.Evidence)
	p.el("p", "note", labelled("refuted by", c.Refutation))
	p.el("p", "note", labelled("not confirmed", strings.Join(c.NotConfirmed, "; ")))
	p.nested(c.ID, 1)
	p.raw("</section>")
}

func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + ": " + text
}

// step selects a command whole with one click (user-select: all).
func (p *html5) step(m report.Remedy) {
	p.raw("<li>")
	p.el("span", "risk "+m.Risk, m.Risk)
	p.el("p", "", m.Title)
	for _, s := range []string{m.Settle, old(p.r, m)} {
		if s != "" {
			p.el("p", "note", s)
		}
	}
	if m.Config != nil {
		p.el("p", "note", m.Config.File+":")
		p.el("pre", "command", strings.Join(m.Config.Lines, "\n"))
	}
	for _, c := range m.Commands {
		p.command(c)
	}
	if facts := safety(m); len(facts) > 0 {
		p.el("p", "note", "safe because:")
		p.raw("<ul>")
		for _, s := range facts {
			p.el("li", "note", s)
		}
		p.raw("</ul>")
	}
	for _, row := range []struct {
		word     string
		commands []string
	}{{"undo", m.Undo}, {"verify", m.Verify}, {"afterwards", m.Afterwards}} {
		if len(row.commands) > 0 {
			p.el("p", "note", row.word+":")
			p.command(strings.Join(row.commands, "\n"))
		}
	}
	p.raw("</li>")
}

// command is selected whole with one click. A browser breaks a line behind any hyphen;
// words in boxes of their own are broken only when one is wider than the page.
func (p *html5) command(c string) {
	fmt.Fprint(p, "<pre class=\"command\">")
	for i, l := range strings.Split(c, "\n") {
		if i > 0 {
			fmt.Fprint(p, "\n")
		}
		for j, w := range strings.Split(l, " ") {
			if j > 0 {
				fmt.Fprint(p, " ")
			}
			if w != "" {
				fmt.Fprint(p, "<span class=\"word\">"+html.EscapeString(w)+"</span>")
			}
		}
	}
	p.raw("</pre>")
}

// path draws the way from the pod to the bytes.
func (p *html5) path() {
	steps := (&page{r: p.r, names: p.names}).steps()
	if k := p.r.Subject.Kind; len(steps) == 0 || k == "Node" || k == "Cluster" {
		return // a sweep goes many ways
	}
	p.raw("<h2>Why</h2>\n<ol class=\"path\">")
	for _, s := range steps {
		class := ""
		if s.broken {
			class = "broken"
		}
		p.el("li", class, s.words)
	}
	p.raw("</ol>")
}

// evidence is folded: every fact with its place, verbatim.
func (p *html5) evidence(title string, list []report.Evidence) {
	if len(list) == 0 {
		return
	}
	p.raw("<details>")
	p.el("summary", "", title+" ("+plural(len(list), "fact")+")")
	p.raw("<dl>")
	for _, e := range list {
		where := e.Source
		if e.Node != "" {
			where = e.Node
		}
		p.el("dt", "", where+": "+e.Locator)
		p.raw("<dd>")
		p.el("pre", "", e.Text)
		p.raw("</dd>")
	}
	p.raw("</dl>\n</details>")
}

// nested prints what a cause brought about, one level inside the other.
func (p *html5) nested(parent string, depth int) {
	for _, f := range p.r.Findings {
		if f.CausedBy != parent || depth > deepest {
			continue
		}
		p.raw("<details class=\"nested\">")
		p.el("summary", "", f.Name+" · "+string(f.Certainty)+" · "+string(f.Severity)+" · "+spoken(f.Subject))
		p.el("p", "", f.Message)
		for _, m := range f.Remedies {
			p.el("p", "note", "→ "+m.Title)
		}
		p.evidence("Evidence", f.Evidence)
		p.nested(f.ID, depth+1)
		p.raw("</details>")
	}
}
