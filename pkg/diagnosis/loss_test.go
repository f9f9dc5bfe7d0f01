package diagnosis_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// TestLossNeverStrengthens takes evidence away in every way in which it can be missing:
// nothing becomes certain, stronger or well by it.
func TestLossNeverStrengthens(t *testing.T) {
	t.Parallel()
	root, _ := cases(t)
	for _, set := range []string{"cases", "pending"} {
		names, err := corpus.Names(filepath.Join(root, "..", set))
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				lose(t, filepath.Join(root, "..", set, name), i)
			})
		}
	}
}

// sampled is which part of the losses of a case is tried unless ALL_LOSSES is set (as .ci/run does).
const sampled = 24

func lose(t *testing.T, dir string, i int) {
	t.Helper()
	c, err := corpus.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, dir)
	whole := corpus.Judged{Report: evaluate(c, s)}
	for n, l := range corpus.Losses(s, c.Ask) {
		if os.Getenv("ALL_LOSSES") == "" && (n+i)%sampled != 0 {
			continue
		}
		for _, wrong := range corpus.Weaker(whole, corpus.Judged{Report: evaluate(c, l.Take())}) {
			t.Errorf("without %s: %s", l.Name, wrong)
		}
	}
}
