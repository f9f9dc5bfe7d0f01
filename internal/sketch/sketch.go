// Package sketch makes small snapshots for tests from YAML, and asks one rule about them.
package sketch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Header is the snapshot of a sketch: it was taken at noon, and nothing is missing.
const Header = "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: '2026-01-02T12:00:00Z'\n"

// Sketch is a snapshot in the making: documents of the cluster, and files beside them
// by path ("nodes/n1.txtar", "logs/ns/pod/container.log", "snapshot.yaml").
type Sketch struct {
	Objects []string
	Files   map[string]string
	lost    []string // words that should have been replaced and are not there
}

// New starts a sketch with documents of the cluster.
func New(objects ...string) *Sketch { return &Sketch{Objects: objects, Files: map[string]string{}} }

// Add adds documents.
func (s *Sketch) Add(objects ...string) *Sketch {
	s.Objects = append(s.Objects, objects...)
	return s
}

// Edit replaces words in the documents; they must be there.
func (s *Sketch) Edit(before, after string) *Sketch {
	found := false
	for i, o := range s.Objects {
		found = found || strings.Contains(o, before)
		s.Objects[i] = strings.ReplaceAll(o, before, after)
	}
	if !found {
		s.lost = append(s.lost, before)
	}
	return s
}

// File adds a file of the snapshot.
func (s *Sketch) File(path, content string) *Sketch { s.Files[path] = content; return s }

// Gap says that something could not be read ("api//pods", "Forbidden").
func (s *Sketch) Gap(need, reason string) *Sketch {
	if s.Files["snapshot.yaml"] == "" {
		s.Files["snapshot.yaml"] = Header + "gaps:\n"
	}
	s.Files["snapshot.yaml"] += fmt.Sprintf("- {need: %q, reason: %s}\n", need, reason)
	return s
}

// Node adds the recording of a machine with entries: path, content, path, content …;
// the last content of a path counts.
func (s *Sketch) Node(name string, entries ...string) *Sketch {
	base := []string{
		"proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw", "proc/1/ns/mnt", "@link mnt:[4026531841]",
		"proc/1/comm", "systemd", "sys/class/block/sda2/dev", "8:2", "@clock", "2026-01-02T12:00:00Z\n86400.00",
	}
	var b strings.Builder
	last := map[string]string{}
	for all, i := append(base, entries...), 0; i < len(all); i += 2 {
		last[all[i]] = all[i+1]
	}
	for _, path := range slices.Sorted(maps.Keys(last)) {
		fmt.Fprintf(&b, "-- %s --\n%s\n", path, last[path])
	}
	return s.File("nodes/"+name+".txtar", b.String())
}

// Index loads the sketch.
func (s *Sketch) Index(t testing.TB) *snapshot.Index {
	t.Helper()
	if len(s.lost) > 0 {
		t.Fatalf("no document of the sketch has %q", s.lost)
	}
	dir := t.TempDir()
	if err := s.write(dir); err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.NewIndex(snap)
}

// write makes the files of the snapshot.
func (s *Sketch) write(dir string) error {
	files := map[string]string{"snapshot.yaml": Header}
	if len(s.Objects) > 0 {
		files["cluster/all.yaml"] = strings.Join(s.Objects, "\n---\n")
	}
	maps.Copy(files, s.Files)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Ask evaluates rules on the sketch. A question is "pvc NAMESPACE/NAME", "pod
// NAMESPACE/NAME", "volume NAME", "node NAME" or "cluster".
func (s *Sketch) Ask(t testing.TB, question string, rules ...*diagnosis.Rule) *report.Report {
	t.Helper()
	cat, err := diagnosis.NewCatalog(rules, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	kind, name, _ := strings.Cut(question, " ")
	q := diagnosis.Question{Kind: kind, Name: name}
	if ns, rest, ok := strings.Cut(name, "/"); ok {
		q.Namespace, q.Name = ns, rest
	}
	r, faults := cat.Audit(s.Index(t), q)
	for _, f := range faults {
		t.Error(f)
	}
	return r
}

// Causes lists what was found as "certainty Kind NAME", with "waiting" behind a cause
// that needs only time.
func Causes(r *report.Report) []string {
	out := []string{}
	for _, c := range r.RootCauses {
		line := string(c.Certainty) + " " + c.Subject.Kind + " " + c.Subject.Name
		if c.Waiting {
			line += " waiting"
		}
		out = append(out, line)
	}
	return out
}
