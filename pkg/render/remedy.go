package render

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// remedies prints numbered steps, safest first, as the rule ordered them.
func (p *page) remedies(list []report.Remedy) {
	if len(list) == 0 {
		return
	}
	p.printf("\n  %s\n", p.in(bold, "What to do"))
	for i, m := range list {
		p.remedy(fmt.Sprintf("    %d. ", i+1), m)
	}
}

func (p *page) remedy(head string, m report.Remedy) {
	title := m.Title
	if m.Risk != "" {
		title += " [" + m.Risk + "]"
	}
	p.text(head, title)
	indent := strings.Repeat(" ", columns(head))
	if m.Settle != "" {
		p.text(indent, m.Settle)
	}
	for _, c := range m.Commands {
		p.old(indent, m.Risk)
		p.command(indent, c)
	}
	for _, e := range m.SafeBecause {
		p.hang(indent+"safe because: ", indent+"  ", strings.TrimSpace(line(e.Node+" "+e.Locator))+": "+line(e.Text))
	}
	p.more(indent, "undo:", m.Undo)
	p.more(indent, "then:", m.Verify)
}

// more prints commands that belong to a step below a word of their own.
func (p *page) more(indent, word string, commands []string) {
	if len(commands) > 0 {
		p.printf("%s%s\n", indent, word)
	}
	for _, c := range commands {
		p.command(indent+"  ", c)
	}
}

// old warns before each command above read-only of a report that is read later.
func (p *page) old(indent, risk string) {
	if age := p.age(); age != "" && risk != "" && risk != "read-only" {
		p.text(indent, "This was seen "+age+" ago: look again first.")
	}
}

// command prints a command so that it can be copied: a long one goes on after a
// backslash at a space, never inside a word. A command with unusual characters is
// escaped and therefore not runnable as it stands, which is the point.
func (p *page) command(indent, c string) {
	for _, l := range strings.Split(c, "\n") {
		parts := p.shell(l, p.limit(columns(indent)+6))
		for i, part := range parts {
			lead, tail := indent+"$ ", ""
			if i > 0 {
				lead = indent + "    "
			}
			if i < len(parts)-1 {
				tail = ` \`
			}
			p.printf("%s%s\n", lead, p.in(cyan, part+tail))
		}
	}
}

// shell splits a command line at spaces outside quotes.
func (p *page) shell(s string, width int) []string {
	var out []string
	for columns(s) > width {
		cut := cutOutsideQuotes(s, width)
		if cut <= 0 {
			break
		}
		out = append(out, s[:cut])
		s = strings.TrimLeft(s[cut:], " ")
	}
	return append(out, s)
}

// cutOutsideQuotes finds the last space before width that is in no quotes; if
// there is none, the first one after it; -1 when there is none at all.
func cutOutsideQuotes(s string, width int) int {
	quote, best, after := rune(0), -1, -1
	for i, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ' && i <= width && i > 0:
			best = i
		case r == ' ' && after < 0:
			after = i
		}
	}
	if best > 0 {
		return best
	}
	return after
}
