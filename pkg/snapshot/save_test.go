package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSaveKeepsCorpus saves a case, and what was saved again: a capture of a capture
// is the same, and an archive holds what a directory holds. That nothing which rules
// read is cut shows the corpus in pkg/diagnosis. Unless ALL_LOSSES is set, as .ci/run does,
// a third of the cases is tried.
func TestSaveKeepsCorpus(t *testing.T) {
	t.Parallel()
	for name, dir := range caseDirs(t) {
		if os.Getenv("ALL_LOSSES") == "" && len(name)%3 > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := saved(t, "first", loaded(t, dir))
			target := "copy"
			if len(name)%4 == 0 { // the same files in another container
				target = "copy.tar.gz"
			}
			if diff := cmp.Diff(want, saved(t, target, want), recordingsOnly, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: mismatch (-want +got):\n%s", target, diff)
			}
		})
	}
}

func saved(t *testing.T, target string, s *Snapshot) *Snapshot {
	t.Helper()
	path := filepath.Join(t.TempDir(), target)
	if err := Save(path, s); err != nil {
		t.Fatal(err)
	}
	return loaded(t, path)
}

func loaded(t *testing.T, path string) *Snapshot {
	t.Helper()
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recordingsOnly compares nodes by the recordings that their facts come from.
var recordingsOnly = cmp.Comparer(func(a, b *NodeRecord) bool {
	return a.Name == b.Name && string(a.Recording) == string(b.Recording) && (a.Facts == nil) == (b.Facts == nil)
})

// TestSaveWithoutRecording writes what was read of the API when a node's recording
// did not arrive, and says what is missing.
func TestSaveWithoutRecording(t *testing.T) {
	t.Parallel()
	s := loaded(t, "../../testdata/cases/multipathd-mount-busy-1210")
	for name := range s.Nodes {
		s.Nodes[name].Recording = nil
		got := saved(t, "capture", s)
		if len(got.Cluster.Pods) != len(s.Cluster.Pods) {
			t.Errorf("%d of %d pods were written", len(got.Cluster.Pods), len(s.Cluster.Pods))
		}
		for _, g := range got.Gaps {
			if g.Need == "node/"+name && g.Reason == Truncated && got.Nodes[name] == nil {
				return
			}
		}
		t.Fatalf("no gap of node %s among %v", name, got.Gaps)
	}
	t.Fatal("the case has no node")
}
