package symptom_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestCorpus asks of every case that the symptoms which its first cause must
// explain are found, and that a healthy case shows none.
func TestCorpus(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := diagnosis.NewCatalog(nil, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s, err := corpus.Load(c.Dir)
			if err != nil {
				t.Fatal(err)
			}
			check(t, c, catalog.Evaluate(snapshot.NewIndex(s), c.Ask))
		})
	}
}

func check(t *testing.T, c *corpus.Case, r *report.Report) {
	t.Helper()
	var found, now []string
	for _, s := range r.Symptoms {
		found = append(found, s.Name)
		if !s.Past && s.Name != "volume-degraded" {
			now = append(now, s.Name+": "+s.Message)
		}
	}
	for _, want := range slices.Concat(c.Want.Explains, c.Want.Unexplained) {
		if !slices.Contains(found, want) {
			t.Errorf("%s is missing; found %v", want, found)
		}
	}
	healthy := len(c.Want.RootCauses) == 0 && len(c.Want.Unexplained) == 0
	if healthy && len(now) > 0 {
		t.Errorf("nothing is wrong here, but found %v", now)
	}
	for _, n := range now {
		if !slices.ContainsFunc(c.Want.Explains, func(w string) bool { return len(n) > len(w) && n[:len(w)] == w }) {
			t.Logf("also: %s", n)
		}
	}
}
