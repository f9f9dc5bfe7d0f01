package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const casesDir = "../../testdata/cases"

// caseDirs are the snapshots of the corpus by name.
func caseDirs(t testing.TB) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			dirs[e.Name()] = filepath.Join(casesDir, e.Name())
		}
	}
	return dirs
}

func TestLoadCorpus(t *testing.T) {
	t.Parallel()
	for name, dir := range caseDirs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, gap := range s.Gaps {
				if gap.Reason == Malformed || strings.HasPrefix(gap.Need, "object/") {
					t.Errorf("gap %s: %s: %s", gap.Need, gap.Reason, gap.Detail)
				}
			}
			recordings, err := filepath.Glob(filepath.Join(dir, "nodes", "*.txtar"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(s.Nodes), len(recordings); got != want {
				t.Errorf("nodes: got %d, want %d", got, want)
			}
			if len(s.Cluster.Pods) == 0 && len(s.Cluster.Nodes) == 0 {
				t.Error("no pods and no nodes were read")
			}
		})
	}
}
