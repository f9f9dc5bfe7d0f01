package diagnosis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime/debug"
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

// load reads a case.
func load(t *testing.T, path string) *snapshot.Snapshot {
	t.Helper()
	s, err := corpus.Load(path)
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

// recorded is the report of a case as it was recorded. It is everybody's: nobody writes to it.
func recorded(t *testing.T, c *corpus.Case) *report.Report {
	t.Helper()
	made, _ := reports.LoadOrStore(c.Dir, sync.OnceValue(func() *report.Report {
		s, err := corpus.Load(c.Dir)
		if err != nil {
			return nil
		}
		return evaluate(c, s)
	}))
	r := made.(func() *report.Report)()
	if r == nil {
		t.Fatal("cannot load ", c.Dir)
	}
	return r
}

// TestMain lets the heap grow: it is small, and thousands of snapshots come and go.
func TestMain(m *testing.M) {
	debug.SetGCPercent(200)
	m.Run()
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
		for seed := range uint64(2) {
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
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		s := load(t, dir)
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
