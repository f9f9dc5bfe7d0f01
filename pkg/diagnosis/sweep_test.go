package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestClusterFindsWhatAClaimFinds: whoever asks about everything hears of each fault that
// who asks about one object hears of, as surely.
func TestClusterFindsWhatAClaimFinds(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		if c.Ask.Kind == "cluster" {
			return
		}
		s := shared(t, dir)
		all := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "cluster"})
		for _, f := range recorded(t, c).RootCauses {
			i := slices.IndexFunc(all.RootCauses, func(o report.Cause) bool { return key(o) == key(f) })
			if i < 0 {
				t.Errorf("the cluster does not show %s", key(f))
			} else if all.RootCauses[i].Certainty.Rank() < f.Certainty.Rank() {
				t.Errorf("the cluster shows %s as %s only, not %s", key(f), all.RootCauses[i].Certainty, f.Certainty)
			}
		}
	})
}
