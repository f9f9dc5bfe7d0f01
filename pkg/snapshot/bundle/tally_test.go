package bundle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// tally counts how often a bundle says what the snapshot says.
type tally struct{ by map[string]*counts }

type counts struct{ same, weaker, open, none int }

func (t *tally) at(layout string) *counts {
	if t.by == nil {
		t.by = map[string]*counts{}
	}
	if t.by[layout] == nil {
		t.by[layout] = &counts{}
	}
	return t.by[layout]
}

func (t *tally) none(layout string) { t.at(layout).none++ }

func (t *tally) add(layout string, whole, less *report.Report) {
	n := t.at(layout)
	switch {
	case roots(whole) == roots(less):
		n.same++
	case len(whole.RootCauses) > 0 && has(less, whole.RootCauses[0].Name):
		n.weaker++
	default:
		n.open++
	}
}

func (t *tally) String() string {
	var b strings.Builder
	for _, l := range sortedKeys(t.by) {
		n := t.by[l]
		fmt.Fprintf(&b, "\n%-13s %3d same, %3d the same cause but less certain, %3d without it, %3d cannot be asked", l, n.same, n.weaker, n.open, n.none)
	}
	return b.String()
}

func roots(r *report.Report) string {
	var out []string
	for _, c := range r.RootCauses {
		out = append(out, c.Name+"="+string(c.Certainty))
	}
	return string(r.Verdict) + " " + strings.Join(out, " ")
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
