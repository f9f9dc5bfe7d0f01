package diagnosis_test

import (
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

// TestCorpus runs every recorded case through every rule and compares the whole
// expectation: the corpus is each rule's negative test.
func TestCorpus(t *testing.T) {
	t.Parallel()
	root, names := cases(t)
	disputed, err := corpus.Disputes(filepath.Join(root, "..", "disputed.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := corpus.Run(filepath.Join(root, name), causes.Catalog())
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Notes {
				t.Log(n)
			}
			judge(t, r, disputed[name])
		})
	}
}

// TestSentencesAreComplete finds fields of a document that its rule does not give.
func TestSentencesAreComplete(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, _ string) {
		for _, f := range audit(t, c).faults {
			t.Error(f)
		}
	})
}

func judge(t *testing.T, r *corpus.Result, dispute string) {
	t.Helper()
	if dispute != "" {
		if len(r.Failures) == 0 {
			t.Errorf("the case passes: remove it from disputed.yaml")
		}
		t.Skipf("disputed: %s", dispute)
	}
	for _, f := range r.Failures {
		t.Error(f)
	}
	if len(r.Failures) > 0 {
		t.Logf("%v\n%s", r.Ask, r.Text)
	} else if r.Unimplemented != "" {
		t.Skipf("the cause %s is not implemented; no wrong cause is reported", r.Unimplemented)
	}
}

func cases(t *testing.T) (root string, names []string) {
	t.Helper()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	if names, err = corpus.Names(root); err != nil {
		t.Fatal(err)
	}
	return root, names
}
