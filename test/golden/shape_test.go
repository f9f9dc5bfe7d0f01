package golden

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

// TestReportsFitAScreen holds the reports of the corpus to what a person reads at
// once: the answer and the steps on one screen of a terminal.
func TestReportsFitAScreen(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "testdata", "cases")
	names, err := corpus.Names(root)
	if err != nil {
		t.Fatal(err)
	}
	var s corpus.Shape
	for _, name := range names {
		r, err := corpus.Run(filepath.Join(root, name), causes.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(name, r.Report); err != nil {
			t.Fatal(err)
		}
	}
	median, p90 := s.Lines()
	if median > 25 || p90 > 40 {
		t.Errorf("reports have %d lines in the median and %d at the 90th percentile, want 25 and 40", median, p90)
	}
	if at := s.FirstCommand(); at > 15 {
		t.Errorf("the first command stands on line %d in the median, want 15", at)
	}
	if n := slices.Max(s.Quiet); n > 4 {
		t.Errorf("a healthy or waiting report has %d lines, want 4", n)
	}
	for _, f := range s.Flaws {
		t.Error(f)
	}
}
