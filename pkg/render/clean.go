package render

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// safe returns a copy of a report in which every string can be shown on a
// terminal, so that no part of the page has to think of it: sentences, names and
// cells are one visible line, quoted texts keep their lines.
func safe(r *report.Report) *report.Report {
	out := report.Visible(r)
	for _, list := range [][]report.Cause{out.RootCauses, out.Findings} {
		for i := range list {
			quote(list[i].Evidence)
		}
	}
	for i := range out.Symptoms {
		quote(out.Symptoms[i].Evidence)
	}
	for i := range out.Unexplained {
		quote(out.Unexplained[i].Evidence)
		quote(out.Unexplained[i].Seen)
	}
	return out
}

func quote(list []report.Evidence) {
	for i := range list {
		list[i].Text = report.Lines(list[i].Text)
	}
}

// line makes one line of words of ours and of a quoted text: blanks and line breaks
// become one space each.
func line(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
