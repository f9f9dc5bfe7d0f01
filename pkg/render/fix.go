package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// fix prints the steps of a cause directly below the answer, and ahead of them what has to be saved first.
func (p *page) fix(c report.Cause) {
	before := p.savedFirst(c)
	list := slices.Concat(before, c.Remedies)
	if len(list) == 0 {
		return
	}
	p.title("FIX")
	for i, m := range list {
		p.step(i+1, i-len(before) > 1, m)
	}
	p.afterwards(list)
}

// step prints one step: what, its risk, the commands, and what makes them safe.
func (p *page) step(n int, late bool, m report.Remedy) {
	head := fmt.Sprintf("%3d  ", n)
	most := gistLines
	if late && len(m.Commands) == 0 {
		most-- // what comes late and has no command is an aside
	}
	title := p.gist(columns(head), most, p.unsaid(p.stepWords(m)))
	if title == "" {
		title = m.Title
	}
	p.stepTitle(head, title, m)
	indent := strings.Repeat(" ", columns(head))
	if m.Settle != "" && !p.said[m.Settle] {
		p.said[m.Settle] = true
		p.text(indent, p.shortSettle(columns(indent), p.names.prose(m.Settle)))
	}
	if w := old(p.r, m); w != "" {
		p.text(indent, w)
	}
	p.config(indent, m.Config)
	for i, c := range m.Commands {
		if i == shownLooks && m.Risk == readOnly {
			break // -o wide has them; what changes something is whole
		}
		p.said[c] = true
		p.command(indent, c)
	}
	if facts := safety(m); len(facts) > 0 && !p.said[facts[0]] {
		p.said[facts[0]] = true
		text := p.names.prose(facts[0])
		if len(facts) > 1 {
			text += fmt.Sprintf(" · %d more in -o wide", len(facts)-1)
		}
		p.hang(indent+p.in(dim, "safe because")+"  ", indent+"  ", text)
	}
}

// shortSettle is what has to be settled before a step is safe, as one glance takes it: the
// first condition, and how many more -o wide has. What was seen instead stands there, too,
// unless it is short.
func (p *page) shortSettle(indent int, s string) string {
	more := strings.Count(s, "; and only when ") + strings.Count(s, "; and whether ")
	if strings.Contains(s, ". First find out whether ") {
		more++
	}
	if more == 0 && len(wrap(s, p.limit(indent))) <= answerLines {
		return s
	}
	for _, end := range []string{". First find out whether ", "; and only when ", "; and whether ", " (now: ", " (not seen: "} {
		s, _, _ = strings.Cut(s, end)
	}
	s = strings.TrimSuffix(s, ".")
	if more > 0 {
		s += "; " + plural(more, "more condition") + " in -o wide"
	}
	return s + "."
}

// stepWords is the title of a step. Where no command has the names, they are whole.
func (p *page) stepWords(m report.Remedy) string {
	if len(m.Commands) > 0 {
		return p.names.prose(m.Title)
	}
	return p.names.theVolume(m.Title)
}

const readOnly = "read-only"

// shownLooks is how many commands of one look a screen has room for.
const shownLooks = 2

// stepTitle puts the class of risk at the right margin of the first line.
func (p *page) stepTitle(head, title string, m report.Remedy) {
	risk := ""
	if m.Risk != "" && m.Risk != readOnly {
		risk = "[" + m.Risk + "]"
	}
	if risk == "" {
		p.text(head, title)
		return
	}
	lines := wrapTo(title, p.limit(columns(head)+columns(risk)+2), p.limit(columns(head)))
	gap := max(p.width()-columns(head+lines[0])-columns(risk), 2)
	p.printf("%s%s%s%s\n", head, lines[0], strings.Repeat(" ", gap), p.in(riskColor[m.Risk], risk))
	for _, l := range lines[1:] {
		p.printf("%s%s\n", strings.Repeat(" ", columns(head)), l)
	}
}

// unsaid leaves out the sentences that another step of this report already said.
func (p *page) unsaid(title string) string {
	var out []string
	for rest := title; rest != ""; {
		s := opening(rest)
		rest = strings.TrimSpace(rest[len(s):])
		if p.said[s] {
			continue
		}
		p.said[s] = true
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// afterwards prints, once below all steps, what removes the debug pods of those that
// change something. That of a look has ended and holds nothing: -o wide has its removal.
func (p *page) afterwards(list []report.Remedy) {
	var commands []string
	for _, m := range list {
		if m.Risk == readOnly {
			continue
		}
		for _, c := range m.Afterwards {
			if !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	for _, c := range commands {
		p.hanging("     "+p.in(dim, "afterwards")+"  ", "       ", c)
	}
}

// gistLines is how many lines the words of a step may take on a screen.
const gistLines = 3

// gist keeps the sentences of a step that fit a few lines, and every one that forbids
// something or saves data; -o wide has all.
func (p *page) gist(indent, most int, title string) string {
	out := ""
	for rest := title; rest != ""; {
		s := opening(rest)
		rest = strings.TrimSpace(rest[len(s):])
		longer := strings.TrimSpace(out + " " + s)
		if out == "" || forbids(s) || saves(s) || len(wrap(longer, p.limit(indent))) <= most {
			out = longer
		}
	}
	return out
}

// forbids tells whether a sentence keeps the reader from doing something.
func forbids(s string) bool {
	for _, w := range []string{"Never ", "Do not ", "Neither ", "Leave ", "Nothing "} {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	if words := strings.Fields(s); len(words) > 1 && slices.Contains([]string{"no", "nothing", "neither", "none"}, words[1]) && !slices.Contains([]string{"If", "Where", "When", "With", "There", "While"}, words[0]) {
		return true // Remove nothing, Delete neither
	}
	return strings.Contains(s, " never ")
}
