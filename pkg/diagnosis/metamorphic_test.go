package diagnosis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// every runs a check on each case that the corpus test accepts as it is.
func every(t *testing.T, check func(t *testing.T, c *corpus.Case, dir string)) {
	t.Helper()
	root, names := cases(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(root, name)
			c, err := corpus.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			check(t, c, dir)
		})
	}
}

// some runs a check on a part of the cases, one in n, and on all with ALL_LOSSES as .ci/run does, or when one case
// is asked about (make case).
func some(t *testing.T, n int, check func(t *testing.T, c *corpus.Case, dir string)) {
	t.Helper()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		if os.Getenv("ONE_CASE") != "" || corpus.Tried(n, t.Name()) {
			check(t, c, dir)
		}
	})
}

// allLosses tells whether more than a sample is tried.
func allLosses() bool { return os.Getenv("ALL_LOSSES") != "" }

// load reads a case, to be changed.
func load(t *testing.T, path string) *snapshot.Snapshot {
	t.Helper()
	s, err := corpus.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shared reads a case that is everybody's: nobody writes to it.
func shared(t *testing.T, path string) *snapshot.Snapshot {
	t.Helper()
	s, err := corpus.Shared(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fresh reads what a test wrote.
func fresh(t *testing.T, path string) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func evaluate(c *corpus.Case, s *snapshot.Snapshot) *report.Report {
	return causes.Catalog().Evaluate(snapshot.NewIndex(s), c.Ask)
}

// reports are those of cases as they were recorded, by directory: most tests compare with them.
var reports sync.Map

// audited is a report, and the fields of documents that its rules did not give.
type audited struct {
	report *report.Report
	faults []string
}

// recorded is the report of a case as it was recorded. It is everybody's: nobody writes to it.
func recorded(t *testing.T, c *corpus.Case) *report.Report {
	t.Helper()
	return audit(t, c).report
}

func audit(t *testing.T, c *corpus.Case) audited {
	t.Helper()
	made, _ := reports.LoadOrStore(c.Dir, sync.OnceValue(func() (a audited) {
		s, err := corpus.Shared(c.Dir)
		if err == nil {
			a.report, a.faults = causes.Catalog().Audit(snapshot.NewIndex(s), c.Ask)
		}
		return a
	}))
	a := made.(func() audited)()
	if a.report == nil {
		t.Fatal("cannot load ", c.Dir)
	}
	return a
}

// bytesOf is a report as bytes: same snapshot, same bytes.
func bytesOf(t *testing.T, r *report.Report) string {
	t.Helper()
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestSameAfterShuffle changes the order of all objects: which of several equal ones is
// named may change with it, what is wrong does not.
func TestSameAfterShuffle(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		want := causesOf(recorded(t, c))
		orders := uint64(1)
		if allLosses() {
			orders = 2
		}
		for seed := range orders {
			s := load(t, dir)
			shuffle(reflect.ValueOf(&s.Cluster).Elem(), rand.New(rand.NewPCG(seed, 2)))
			if diff := cmp.Diff(want, causesOf(evaluate(c, s))); diff != "" {
				t.Errorf("another order of objects changes the answer (-want +got):\n%s", diff)
			}
		}
	})
}

// shuffle mixes every list of objects; structs below it are visited.
func shuffle(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Slice:
		r.Shuffle(v.Len(), reflect.Swapper(v.Interface()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				shuffle(v.Field(i), r)
			}
		}
	}
}

// TestSameAfterSaveAndLoad writes the snapshot as a capture and reads it back: what
// a rule reads is not cut. Only the timeline may be shorter, for it also tells of
// lines that say nothing about a fault.
func TestSameAfterSaveAndLoad(t *testing.T) {
	t.Parallel()
	some(t, 3, func(t *testing.T, c *corpus.Case, dir string) {
		s := shared(t, dir)
		path := filepath.Join(t.TempDir(), "snapshot.tar.gz")
		if err := snapshot.Save(path, s); err != nil {
			t.Fatal(err)
		}
		before, after := *recorded(t, c), evaluate(c, fresh(t, path))
		before.Timeline, after.Timeline = nil, nil
		want, got := bytesOf(t, &before), bytesOf(t, after)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a saved snapshot gives another report (-want +got):\n%s", diff)
		}
	})
}

func key(f report.Cause) string { return fmt.Sprintf("%s on %s", f.Name, f.Subject) }
