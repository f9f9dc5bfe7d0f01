package bundle_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot/bundle"
)

// everyCase is the variable with which all cases are written, not every tenth.
const everyCase = "MOUNTDOCTOR_ALL_BUNDLES"

// TestNeverStronger writes cases in the layout of each tool and compares the answers
// with those of the snapshot: nothing becomes certain or well by what a bundle lacks.
func TestNeverStronger(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	names, err := corpus.Names(root)
	if err != nil {
		t.Fatal(err)
	}
	var score tally
	for i, name := range names {
		// A digit stands for another tenth.
		if n := os.Getenv(everyCase); n == "all" || strconv.Itoa(i%10) == n || n == "" && i%10 == 0 {
			compare(t, filepath.Join(root, name), &score)
		}
	}
	t.Log(score.String())
}

func compare(t *testing.T, dir string, score *tally) {
	t.Helper()
	c, err := corpus.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := corpus.Run(dir, causes.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	blind := withoutNodes(t, c)
	o := readCase(t, dir)
	forms := []string{"zip", "tar.gz", "dir"}
	for i, layout := range sortedKeys(layoutsOf) {
		s, err := bundle.Load(write(t, layoutsOf[layout](o), forms[(i+len(dir))%3]), nil)
		if err != nil {
			score.none(layout)
			if !strings.Contains(err.Error(), "without any Kubernetes object") {
				t.Errorf("%s as %s: %v", c.Name, layout, err)
			}
			continue
		}
		less, err := corpus.Evaluate(c, s, causes.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		if less.Report.Error != "" {
			score.none(layout)
			continue
		}
		for _, why := range corpus.Weaker(corpus.Judged{Report: whole.Report}, corpus.Judged{Report: less.Report}) {
			t.Errorf("%s as %s: %s", c.Name, layout, why)
		}
		score.add(layout, whole.Report, less.Report)
		for _, r := range less.Report.RootCauses {
			if slices.Contains(c.Want.NotCauses, r.Name) && !has(whole.Report, r.Name) && !has(blind, r.Name) {
				if r.Certainty == report.Certain {
					t.Errorf("%s as %s: %s is certain, which the case calls wrong", c.Name, layout, r.Name)
				}
				t.Logf("%s as %s: %s is %s, which the case calls wrong: %s", c.Name, layout, r.Name, r.Certainty, r.Message)
			} else if !has(whole.Report, r.Name) && !has(blind, r.Name) && r.Severity != report.Risk {
				t.Logf("%s as %s: %s is %s, and only so: %s", c.Name, layout, r.Name, r.Certainty, r.Message)
			}
		}
		if os.Getenv("MOUNTDOCTOR_BUNDLE_NOTES") != "" {
			t.Logf("%s as %s: %s → %s", c.Name, layout, roots(whole.Report), roots(less.Report))
		}
	}
}

func has(r *report.Report, name string) bool {
	return slices.ContainsFunc(r.RootCauses, func(c report.Cause) bool { return c.Name == name })
}

// withoutNodes is what the objects alone say: a cause that only a look at a node rules
// out is no fault of the bundle.
func withoutNodes(t *testing.T, c *corpus.Case) *report.Report {
	t.Helper()
	s, err := snapshot.Load(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for name := range s.Nodes {
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: "node/" + name, Reason: snapshot.NotRequested})
	}
	s.Nodes = nil
	out, err := corpus.Evaluate(c, s, causes.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return out.Report
}
