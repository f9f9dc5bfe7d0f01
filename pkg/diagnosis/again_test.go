package diagnosis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestTheLastWordStands makes the events that were repeated for a while older than fresh, as
// where the API server gets one in five minutes about an object: the cause stays, and is not
// surer for it.
func TestTheLastWordStands(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		want := recorded(t, c)
		ages := []time.Duration{14 * time.Minute, 28 * time.Minute}
		if !allLosses() { // .ci/run takes both
			ages = ages[len(dir)%2:][:1]
		}
		for _, age := range ages {
			s := load(t, dir)
			if !silence(s, age) {
				continue
			}
			got := evaluate(c, s)
			if len(want.RootCauses) > 0 && !slices.ContainsFunc(got.RootCauses, func(f report.Cause) bool { return f.Name == want.RootCauses[0].Name }) {
				t.Errorf("with events of %v ago %s is not found, but %q", age, key(want.RootCauses[0]), causesOf(got))
			}
			for _, f := range got.RootCauses {
				if f.Certainty == report.Certain && !slices.ContainsFunc(want.RootCauses, func(o report.Cause) bool { return o.Name == f.Name && o.Certainty == f.Certainty }) {
					t.Errorf("with events of %v ago %s is certain", age, key(f))
				}
			}
		}
	})
}

// silence makes the last occurrence of repeated warnings that old, if they began earlier.
func silence(s *snapshot.Snapshot, age time.Duration) (changed bool) {
	last := s.TakenAt.Add(-age)
	for _, e := range s.Cluster.Events {
		if e.Type == "Warning" && e.Count > 1 && e.First.Before(last) && e.Last.After(last) {
			e.Last, changed = last, true
		}
	}
	return changed
}
