// Package hostile gives the program snapshots that an attacker or bad luck wrote,
// and reads every report as a person and a program would.
package hostile

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const testdata = "../../testdata"

// injected are snapshots in which mount points, map names, events and logs hold
// lines that look like ours.
var injected = []string{"inject-everything", "inject-mountpath"}

func TestInjected(t *testing.T) {
	t.Parallel()
	for _, name := range injected {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(testdata, "hostile", name)
			r := ask(t, dir, dir)
			if len(r.RootCauses) == 0 {
				t.Error("the bytes hide the cause")
			}
			check(t, r)
		})
	}
}

// TestArbitraryBytes writes stories into strings of every case, and asks: into many or into a few, and into both
// with ALL_LOSSES as .ci/run does.
func TestArbitraryBytes(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(testdata, "cases", "*", "ask.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for i, path := range names {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			for round, share := range []int{2, 40} {
				if os.Getenv("ALL_LOSSES") == "" && (i+round)%2 > 0 {
					continue
				}
				attack(t, dir, uint64(i), uint64(round), share)
			}
		})
	}
}

// attack mutates one in share strings of a case, and the recordings on disk.
func attack(t *testing.T, dir string, seed, round uint64, share int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, round))
	s, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	mutated(t, dir, s, mutate(reflect.ValueOf(s).Elem(), r, share, anyStory(r)))
}

// mutated checks the answer of a mutated snapshot to the question, in its new names.
func mutated(t *testing.T, dir string, s *snapshot.Snapshot, m mutation) {
	t.Helper()
	q := questionOf(t, dir)
	q.Namespace, q.Name = m.of(q.Namespace), m.of(q.Name)
	check(t, causes.Catalog().Evaluate(snapshot.NewIndex(s), q))
}

// TestScribbledRecordings damages recordings on disk, as a hostile node could.
func TestScribbledRecordings(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"founding-multipathd-busy", "founding-rbd-node-exporter", "founding-remount-subpath", "founding-rwx-hostname-clash"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			dir := filepath.Join(t.TempDir(), name)
			from := filepath.Join(testdata, "cases", name)
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "nodes", "*.txtar"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no recordings: %v", err)
			}
			for _, f := range files {
				raw, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f, scribble(raw, r, 60, anyStory(r)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check(t, ask(t, dir, from))
		})
	}
}

// FuzzReport is TestArbitraryBytes for longer, with a story of the fuzzer's.
func FuzzReport(f *testing.F) {
	for i, s := range stories {
		f.Add(uint64(i), uint8(i), s)
	}
	names, err := filepath.Glob(filepath.Join(testdata, "cases", "*", "ask.txt"))
	if err != nil || len(names) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	f.Fuzz(func(t *testing.T, seed uint64, share uint8, story string) {
		dir := filepath.Dir(names[seed%uint64(len(names))])
		s, err := corpus.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		mutated(t, dir, s, mutate(reflect.ValueOf(s).Elem(), r, 1+int(share), func() string { return story }))
	})
}

// ask evaluates a snapshot with the question of a case.
func ask(t *testing.T, dir, question string) *report.Report {
	t.Helper()
	s, err := corpus.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return causes.Catalog().Evaluate(snapshot.NewIndex(s), questionOf(t, question))
}

func questionOf(t *testing.T, dir string) diagnosis.Question {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "ask.txt"))
	if err != nil {
		t.Fatal(err)
	}
	q, err := corpus.ParseAsk(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return q
}
