package diagnosis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestLossNeverStrengthens takes evidence away in every way in which it can be missing:
// nothing becomes certain, stronger or well by it, no command appears, and the cause stays among what is open
// where a list or a probe is missing.
func TestLossNeverStrengthens(t *testing.T) {
	t.Parallel()
	root, _ := cases(t)
	for _, set := range []string{"cases", "pending", "hostile"} {
		names, err := corpus.Names(filepath.Join(root, "..", set))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				lose(t, filepath.Join(root, "..", set, name))
			})
		}
	}
}

// sampled is which part of the losses of a case is tried unless ALL_LOSSES is set (as .ci/run does).
const sampled = 80

func lose(t *testing.T, dir string) {
	t.Helper()
	ask, err := corpus.ReadAsk(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := &corpus.Case{Name: filepath.Base(dir), Dir: dir, Ask: ask}
	whole := recorded(t, c)
	acting := corpus.Acting(whole)
	for _, l := range corpus.Losses(shared(t, dir), c.Ask) {
		if !corpus.Tried(sampled, c.Name, l.Name) {
			continue
		}
		lost := evaluate(c, l.Take())
		noStronger(t, "without "+l.Name, corpus.Judged{Report: whole}, corpus.Judged{Report: lost}, acting)
		if strings.HasPrefix(l.Name, "api/") || strings.HasSuffix(l.Name, " timeout") {
			for _, f := range forgotten(whole, lost) {
				t.Errorf("without %s: %s is the cause, and is neither found nor among what is open", l.Name, f)
			}
		}
		for _, u := range lost.Unexplained {
			for _, f := range whole.RootCauses {
				if slices.ContainsFunc(u.RuledOut, func(o report.Excluded) bool { return o.Cause == f.Name }) && onNodeOf(f, u) {
					t.Errorf("without %s: %s is ruled out, and is the cause", l.Name, f.Name)
				}
			}
		}
	}
}

// onNodeOf tells whether what is unexplained speaks of a node of a cause, if that has one:
// on another node it may well be ruled out.
func onNodeOf(f report.Cause, u report.Unexplained) bool {
	nodes := map[string]bool{}
	for _, e := range f.Evidence {
		if e.Node != "" {
			nodes[e.Node] = true
		}
	}
	for n := range nodes {
		if strings.Contains(u.Symptom.Message+u.Answer, n) {
			return true
		}
	}
	return len(nodes) == 0
}

// forgotten are the causes that less evidence leaves out although what they explained is
// unexplained now: they are neither found, nor what it could be, nor named as not checked.
func forgotten(whole, lost *report.Report) []string {
	if lost.Verdict == report.UnknownState {
		return nil
	}
	var named, out []string
	for _, f := range slices.Concat(lost.RootCauses, lost.Findings) {
		named = append(append(named, f.Name), f.Yielded...)
	}
	for _, n := range lost.NotChecked {
		named = append(named, n.Causes...)
	}
	for _, u := range lost.Unexplained {
		for _, o := range u.CouldBe {
			named = append(named, o.Cause)
		}
	}
	for _, f := range whole.RootCauses {
		open := slices.ContainsFunc(lost.Unexplained, func(u report.Unexplained) bool { return slices.Contains(f.Explains, u.Name) })
		if open && f.Severity != report.Risk && !slices.ContainsFunc(named, func(n string) bool { return n == f.Name || strings.HasPrefix(n, f.Name+"@") }) {
			out = append(out, f.Name)
		}
	}
	return out
}
