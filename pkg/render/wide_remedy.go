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
	for _, s := range []string{m.Settle, old(p.r, m)} {
		if s != "" {
			p.text(indent, s)
		}
	}
	p.config(indent, m.Config)
	for _, c := range m.Commands {
		p.command(indent, c)
	}
	for _, s := range safety(m) {
		p.hang(indent+"safe because: ", indent+"  ", s)
	}
	for _, row := range []struct {
		word     string
		commands []string
	}{{"undo", m.Undo}, {"verify", m.Verify}, {"afterwards", m.Afterwards}} {
		if len(row.commands) > 0 {
			p.text(indent, row.word+":")
		}
		for _, c := range row.commands {
			p.command(indent+"  ", c)
		}
	}
}
