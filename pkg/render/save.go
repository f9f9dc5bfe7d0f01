package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// savedFirst are the steps of what a cause brought about that save data, ahead of its own: who cures the cause
// and starts the pods anew before loses what lies where only the fault has put it.
func (p *page) savedFirst(c report.Cause) []report.Remedy {
	var out []report.Remedy
	for _, f := range p.below(c.ID, 1) {
		for _, m := range f.Remedies {
			words := saving(m.Title)
			if words != "" && len(m.Commands) == 0 && !slices.ContainsFunc(slices.Concat(out, c.Remedies), func(o report.Remedy) bool { return o.Title == words || o.Title == m.Title }) {
				out = append(out, report.Remedy{Title: words})
			}
		}
	}
	if more := len(out) - shownSaves; more > 0 {
		out = out[:shownSaves]
		out[shownSaves-1].Title += fmt.Sprintf(" So it is with what -o wide names (%d more).", more)
	}
	return out
}

// shownSaves is how many steps that save data a screen has room for.
const shownSaves = 2

// below are the findings that a cause brought about, and what those did.
func (p *page) below(parent string, depth int) []report.Cause {
	var out []report.Cause
	for _, f := range p.r.Findings {
		if f.CausedBy == parent && depth <= deepest {
			out = append(append(out, f), p.below(f.ID, depth+1)...)
		}
	}
	return out
}

// saving are the sentences of a step that save what lies nowhere else, with what they forbid until that is done;
// empty when there are none. A backup before a repair belongs to the repair.
func saving(title string) string {
	var out []string
	for rest := title; rest != ""; {
		s := opening(rest)
		rest = strings.TrimSpace(rest[len(s):])
		if saves(s) && onlyThere(s) || len(out) > 0 && forbids(s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

// saves tells whether a sentence has the reader save data before something else.
func saves(s string) bool {
	return has(s, "save what", "save the data", "copy what", "copy the", "copy it", "keep a copy", "copy of the data", "snapshot or backup", "backup first") &&
		(onlyThere(s) || has(s, "first", "before", "once ", " then "))
}

// onlyThere tells whether a sentence is about what was written in a wrong place.
func onlyThere(s string) bool {
	return has(s, "nowhere else", "safe place", "what it wrote", "what they wrote", "what was written")
}

func has(s string, words ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
