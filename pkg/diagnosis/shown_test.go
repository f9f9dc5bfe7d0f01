package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestEveryCauseIsShown: what a report says of a root has a command for whoever reads it, even where all that would change
// something is withheld.
func TestEveryCauseIsShown(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, _ string) {
		for _, f := range recorded(t, c).RootCauses {
			if !slices.ContainsFunc(f.Remedies, func(m report.Remedy) bool { return len(m.Commands) > 0 }) {
				t.Errorf("%s of %s: nothing shows it", f.Name, f.Subject.Name)
			}
		}
	})
}
