package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestFeltComesFirst asks every case as a cluster: of two causes that are as grave and as well proven, the one from
// which somebody suffers stands before the one that nobody feels yet.
func TestFeltComesFirst(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		if !corpus.Tried(3, c.Name) {
			return
		}
		asked := *c
		asked.Ask = diagnosis.Question{Kind: "cluster"}
		r := evaluate(&asked, shared(t, dir))
		felt := func(f report.Cause) bool {
			return slices.ContainsFunc(r.Symptoms, func(s report.Symptom) bool { return !s.Past && slices.Contains(s.ExplainedBy, f.ID) })
		}
		for i, f := range r.RootCauses[:max(0, len(r.RootCauses)-1)] {
			g := r.RootCauses[i+1]
			if f.Severity == g.Severity && f.Waiting == g.Waiting && f.Certainty == g.Certainty && !felt(f) && felt(g) && len(g.Explains) > 0 {
				t.Errorf("%s on %s, which nobody feels, stands before %s on %s", f.Name, f.Subject, g.Name, g.Subject)
			}
		}
	})
}
