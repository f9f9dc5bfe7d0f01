package diagnosis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestEachGuardHolds changes the corpus so that each guard of each step that it prints
// is refuted once, and cannot be answered once: the commands vanish.
func TestEachGuardHolds(t *testing.T) {
	t.Parallel()
	root, _ := cases(t)
	tried := map[string]bool{} // step/question/mode
	printed := map[string]bool{}
	for _, set := range []string{"cases", "pending"} {
		names, err := corpus.Names(filepath.Join(root, "..", set))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			guardsHold(t, filepath.Join(root, "..", set, name), tried, printed)
		}
	}
	for key := range printed {
		_, question, _ := strings.Cut(key, "/")
		for mode := range mutations[question] {
			if !tried[key+"/"+mode] {
				t.Errorf("%s was never %s", key, mode)
			}
		}
	}
	if len(printed) < 20 {
		t.Errorf("the corpus prints steps with %d kinds of guards, want 20 and more", len(printed))
	}
}

func guardsHold(t *testing.T, dir string, tried, printed map[string]bool) {
	t.Helper()
	ask, err := corpus.ReadAsk(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole := shared(t, dir)
	for _, step := range causes.Catalog().StepsOf(snapshot.NewIndex(whole), ask) {
		seen, ok := step.Decide(snapshot.NewIndex(whole))
		if !ok || seen.Risk == "" || seen.Risk == remedy.ReadOnly {
			continue
		}
		for _, g := range step.Guards {
			key := step.Name + "/" + g.Question
			printed[key] = true
			if mutations[g.Question] == nil {
				t.Errorf("%s: nothing changes the facts of %s", filepath.Base(dir), key)
			}
			for mode, change := range mutations[g.Question] {
				if tried[key+"/"+mode] {
					continue
				}
				s := load(t, dir)
				if !change(s, g.On) {
					continue
				}
				tried[key+"/"+mode] = true
				x := snapshot.NewIndex(s)
				for _, command := range corpus.Acting(causes.Catalog().Evaluate(x, ask)) {
					if slices.Contains(seen.Commands, command) {
						t.Errorf("%s: %s is %s, and still there is %s", filepath.Base(dir), key, mode, command)
					}
				}
			}
		}
	}
}
