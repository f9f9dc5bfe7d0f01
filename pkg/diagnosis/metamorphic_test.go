package diagnosis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

func load(t *testing.T, path string) *snapshot.Snapshot {
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

// bytesOf is a report as bytes: same snapshot, same bytes.
func bytesOf(t *testing.T, r *report.Report) string {
	t.Helper()
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestSameAfterShuffle changes the order of all objects in a saved snapshot.
func TestSameAfterShuffle(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		first := filepath.Join(t.TempDir(), "first")
		if err := snapshot.Save(first, load(t, dir)); err != nil {
			t.Fatal(err)
		}
		want := bytesOf(t, evaluate(c, load(t, first)))
		s := load(t, dir)
		shuffle(reflect.ValueOf(&s.Cluster).Elem(), rand.New(rand.NewPCG(1, 2)))
		path := filepath.Join(t.TempDir(), "shuffled")
		if err := snapshot.Save(path, s); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, bytesOf(t, evaluate(c, load(t, path)))); diff != "" {
			t.Errorf("another order of objects changes the report (-want +got):\n%s", diff)
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
		before, after := evaluate(c, s), evaluate(c, load(t, path))
		before.Timeline, after.Timeline = nil, nil
		want, got := bytesOf(t, before), bytesOf(t, after)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a saved snapshot gives another report (-want +got):\n%s", diff)
		}
	})
}

// TestLessEvidenceNeverClears takes away one node, or one resource, at a time:
// the answer may become weaker or "not checked", never healthy, never stronger.
func TestLessEvidenceNeverClears(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		whole := evaluate(c, load(t, dir))
		for _, need := range needsOf(load(t, dir)) {
			s := load(t, dir)
			take(s, need)
			compareWeaker(t, need, whole, evaluate(c, s))
		}
	})
}

// needsOf lists what can be taken away: every probed node, and the resources
// that rules ask for.
func needsOf(s *snapshot.Snapshot) []string {
	var out []string
	for name := range s.Nodes {
		out = append(out, "node/"+name)
	}
	slices.Sort(out)
	return append(out, "api/storage.k8s.io/volumeattachments", "api/events.k8s.io/events", "api/longhorn.io/engines",
		"api/longhorn.io/sharemanagers", "api/longhorn.io/instancemanagers", "api/storage.k8s.io/csinodes")
}

func take(s *snapshot.Snapshot, need string) {
	s.Gaps = append(s.Gaps, snapshot.Gap{Need: need, Reason: snapshot.Forbidden, Detail: "taken away by the test"})
	if node, ok := strings.CutPrefix(need, "node/"); ok {
		delete(s.Nodes, node)
		return
	}
	switch need {
	case "api/storage.k8s.io/volumeattachments":
		s.Cluster.Attachments = nil
	case "api/events.k8s.io/events":
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: "api//events", Reason: snapshot.Forbidden})
		s.Cluster.Events = nil
	case "api/longhorn.io/engines":
		s.Cluster.Longhorn.Engines = nil
	case "api/longhorn.io/sharemanagers":
		s.Cluster.Longhorn.ShareManagers = nil
	case "api/longhorn.io/instancemanagers":
		s.Cluster.Longhorn.InstanceManagers = nil
	case "api/storage.k8s.io/csinodes":
		s.Cluster.CSINodes = nil
	}
}

// sameSilence tells whether the whole evidence saw the same silent node from inside:
// node-down is certain that a node does not report, which stays true when the recording
// that shows life there is taken away.
func sameSilence(f report.Cause, whole *report.Report) bool {
	return f.Name == "node-down" && slices.ContainsFunc(whole.RootCauses, func(w report.Cause) bool {
		return w.Name == "node-kubelet-down-workload-alive" && w.Subject == f.Subject
	})
}

func compareWeaker(t *testing.T, need string, whole, less *report.Report) {
	t.Helper()
	if less.Verdict == report.Healthy && whole.Verdict != report.Healthy {
		t.Errorf("without %s the verdict is healthy, with it %s", need, whole.Verdict)
	}
	before, certain := map[string]report.Certainty{}, map[string]bool{}
	for _, f := range append(slices.Clone(whole.RootCauses), whole.Findings...) {
		before[key(f)] = f.Certainty
		certain[f.Name] = certain[f.Name] || f.Certainty == report.Certain
		for _, y := range f.Yielded {
			before[y] = report.Certain // it was seen, and gave way to f
		}
	}
	for _, f := range less.RootCauses {
		if old, known := before[key(f)]; known && f.Certainty.Rank() > old.Rank() {
			t.Errorf("without %s %s is %s, with it %s", need, key(f), f.Certainty, old)
		}
		// The same cause may be shown on the next of several nodes that have it.
		if _, known := before[key(f)]; !known && !certain[f.Name] && f.Certainty == report.Certain && f.Severity != report.Risk && !sameSilence(f, whole) {
			t.Errorf("without %s %s is suddenly certain: %s", need, key(f), f.Message)
		}
	}
}

func key(f report.Cause) string { return fmt.Sprintf("%s on %s", f.Name, f.Subject) }
