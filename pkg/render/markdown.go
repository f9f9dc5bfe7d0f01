package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Markdown prints GitHub's: headings, short tables, folded evidence, fenced commands.
// What others wrote is escaped in sentences and fenced where it is quoted.
func Markdown(w io.Writer, r *report.Report, o Options) error {
	out := bufio.NewWriter(w)
	m := &markdown{Writer: out, r: safe(r), o: o}
	m.names = namesOf(m.r)
	m.page()
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type markdown struct {
	*bufio.Writer
	o     Options
	r     *report.Report
	names names
}

// special are the characters that GitHub's Markdown and its HTML give a meaning inside
// a line; a backslash takes it (CommonMark 0.31, 2.4), and from @ and # their links.
const special = "\\`*_{}[]<>#!|~&@$"

// beginning are those that mean something only at the beginning of a line.
const beginning = "-+=:()"

// links are what GitHub makes a link of without brackets (GFM 6.9).
var links = strings.NewReplacer("://", `\://`, "www.", `www\.`)

// md escapes a text of anybody's for a sentence or a cell.
func md(s string) string {
	var b strings.Builder
	for i, r := range s {
		if strings.ContainsRune(special, r) || i == 0 && strings.ContainsRune(beginning, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return links.Replace(b.String())
}

func (m *markdown) line(format string, words ...any) { fmt.Fprintf(m, format+"\n", words...) }

// fenced quotes a text behind a fence that is longer than any inside it.
func (m *markdown) fenced(kind, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.line("%s%s\n%s\n%s\n", fence, kind, strings.TrimRight(text, "\n"), fence)
}

func (m *markdown) page() {
	r := m.r
	m.line("## %s is %s\n", md(spoken(r.Subject)), md(r.Verdict))
	if when := (&html5{r: r, names: m.names}).when(); when != "" {
		m.line("_%s_\n", md(when))
	}
	if len(r.RootCauses) == 0 && r.Summary != "" {
		m.line("%s\n", md(r.Summary))
	}
	if r.Error != "" {
		m.line("**error:** %s\n", md(r.Error))
	}
	for _, c := range r.RootCauses {
		m.cause(c)
	}
	for _, u := range r.Unexplained {
		m.line("### Unexplained: %s\n\n%s\n", md(u.Name+" on "+spoken(u.Subject)), md(either(u.Answer, u.Message)))
		m.evidence(slices.Concat(u.Evidence, u.Seen))
		m.unexplained(u)
	}
	m.chain()
	m.open()
}

func (m *markdown) cause(c report.Cause) {
	m.line("### %s\n\n%s\n\n%s\n", md(c.Name), md(m.names.theVolume(c.Message)), md(sureness(c)+" · "+string(c.Severity)+" · "+spoken(c.Subject)))
	if page := m.o.pageOf(c.Name); page != "" {
		m.line("[About %s](%s)\n", md(c.Name), page)
	}
	if len(c.Remedies) > 0 {
		m.line("#### Fix\n")
	}
	for i, step := range c.Remedies {
		m.step(i+1, step)
	}
	m.evidence(c.Evidence)
	for _, f := range m.r.Findings {
		if f.CausedBy == c.ID {
			m.line("- **%s** (%s, %s): %s\n", md(f.Name), md(string(f.Certainty)), md(string(f.Severity)), md(opening(f.Message)))
		}
	}
}

// unexplained says what it is not, and where to look next.
func (m *markdown) unexplained(u report.Unexplained) {
	var words []string
	for _, x := range u.RuledOut {
		words = append(words, x.Words)
	}
	if len(words) > 0 {
		m.line("_ruled out:_ %s\n", md(strings.Join(words, " · ")))
	}
	for i, step := range u.Next {
		m.step(i+1, step)
	}
}

func (m *markdown) step(n int, r report.Remedy) {
	risk := ""
	if r.Risk != "" && r.Risk != readOnly {
		risk = " — **" + md(r.Risk) + "**"
	}
	m.line("%d\\. %s%s\n", n, md(r.Title), risk)
	for _, s := range []string{r.Settle, old(m.r, r)} {
		if s != "" {
			m.line("%s\n", md(s))
		}
	}
	if r.Config != nil {
		m.line("`%s`:\n", r.Config.File)
		m.fenced("text", strings.Join(r.Config.Lines, "\n"))
	}
	if len(r.Commands) > 0 {
		m.fenced("sh", strings.Join(r.Commands, "\n"))
	}
	for _, s := range safety(r) {
		m.line("_safe because:_ %s\n", md(s))
	}
	for _, row := range []struct {
		word     string
		commands []string
	}{{"undo", r.Undo}, {"verify", r.Verify}, {"afterwards", r.Afterwards}} {
		if len(row.commands) > 0 {
			m.line("_%s:_\n", row.word)
			m.fenced("sh", strings.Join(row.commands, "\n"))
		}
	}
}

// evidence is folded. GitHub reads Markdown inside <details> after an empty line.
func (m *markdown) evidence(list []report.Evidence) {
	if len(list) == 0 {
		return
	}
	m.line("<details><summary>Evidence (%s)</summary>\n", plural(len(list), "fact"))
	for _, e := range list {
		where := e.Source
		if e.Node != "" {
			where = e.Node
		}
		m.line("%s\n", md(where+": "+e.Locator))
		m.fenced("text", e.Text)
	}
	m.line("</details>\n")
}

// chain is the table of objects.
func (m *markdown) chain() {
	if len(m.r.Chain) == 0 {
		return
	}
	m.line("#### Chain\n\n| | object | name | state | since | note |\n|---|---|---|---|---|---|")
	for _, l := range m.r.Chain {
		mark := ""
		if l.Broken {
			mark = brokenMark
		}
		m.line("| %s | %s | %s | %s | %s | %s |", mark, md(shortKind(l.Kind)), md(l.Name), md(l.State), lasting(l.Since, m.r.TakenAt), md(l.Note))
	}
	m.line("")
}

func (m *markdown) open() {
	if len(m.r.NotChecked) == 0 {
		return
	}
	m.line("<details><summary>Not checked (%s)</summary>\n", plural(len(m.r.NotChecked), "thing"))
	for _, n := range m.r.NotChecked {
		m.line("- %s", md(gapWords(n)))
	}
	m.line("\n</details>")
}
