package render

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// safe returns a copy of a report in which every string can be shown on a
// terminal, so that no part of the page has to think of it: sentences, names and
// cells are one visible line, quoted texts keep their lines.
func safe(r *report.Report) *report.Report {
	out := report.Visible(r)
	ofCause := func(c *report.Cause) []*[]report.Evidence { return []*[]report.Evidence{&c.Evidence} }
	out.RootCauses, out.Findings = withQuotes(out.RootCauses, ofCause), withQuotes(out.Findings, ofCause)
	out.Symptoms = withQuotes(out.Symptoms, func(s *report.Symptom) []*[]report.Evidence { return []*[]report.Evidence{&s.Evidence} })
	out.Unexplained = withQuotes(out.Unexplained, func(u *report.Unexplained) []*[]report.Evidence { return []*[]report.Evidence{&u.Evidence, &u.Seen} })
	return out
}

// withQuotes makes the texts visible that a list quotes; what changes is a copy.
func withQuotes[T any](list []T, texts func(*T) []*[]report.Evidence) []T {
	own := false
	for i := range list {
		one, changed := list[i], false
		for _, quotes := range texts(&one) {
			for k, e := range *quotes {
				if text := report.Lines(e.Text); text != e.Text {
					*quotes = slices.Clone(*quotes)
					(*quotes)[k].Text, changed = text, true
				}
			}
		}
		if changed && !own {
			list, own = slices.Clone(list), true
		}
		if changed {
			list[i] = one
		}
	}
	return list
}

// line makes one line of words of ours and of a quoted text: blanks and line breaks
// become one space each.
func line(s string) string {
	return strings.Join(strings.Fields(s), " ")
}
