package diagnosis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestSameCausesAfterRedaction asks the redacted snapshot the redacted question.
func TestSameCausesAfterRedaction(t *testing.T) {
	t.Parallel()
	some(t, 3, func(t *testing.T, c *corpus.Case, dir string) {
		s := shared(t, dir)
		words, err := snapshot.Redact(s, []byte("metamorphic"))
		if err != nil {
			t.Fatal(err)
		}
		ask := diagnosis.Question{Kind: c.Ask.Kind, Namespace: words.Word(c.Ask.Namespace), Name: words.Word(c.Ask.Name)}
		red := causes.Catalog().Evaluate(snapshot.NewIndex(words.Snapshot), ask)
		if diff := cmp.Diff(causesOf(recorded(t, c)), causesOf(red)); diff != "" {
			t.Errorf("the redacted snapshot gives other causes (-want +got):\n%s", diff)
		}
	})
}

// causesOf names the causes without their subjects.
func causesOf(r *report.Report) []string {
	out := []string{r.Verdict}
	for _, c := range r.RootCauses {
		out = append(out, fmt.Sprintf("%s %s %s", c.Name, c.Certainty, c.Subject.Kind))
	}
	for _, c := range r.Findings {
		out = append(out, fmt.Sprintf("nested %s %s", c.Name, c.Certainty))
	}
	return out
}
