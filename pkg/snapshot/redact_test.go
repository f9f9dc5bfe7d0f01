package snapshot_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Canaries must not be found in a redacted snapshot, wherever they stood before.
func TestRedactHidesNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dir      string
		canaries []string
	}{
		{"founding-rbd-node-exporter", []string{"data-es-4", "/elastic/", "\"elastic\""}},
		{"founding-rwx-hostname-clash", []string{"shared-data", "bogon"}},
		{"gcp-detach-wins-over-attach", []string{"data-kafka-1", "kafka-1"}},
		{"k8s-iscsi-scan-leftover-lun", []string{"bi-node-2", "60060160a1b03a0041be0c4b7713ea11", "apm00135097426", "10.50.1.10"}},
	} {
		t.Run(c.dir, func(t *testing.T) {
			t.Parallel()
			s, err := snapshot.Load(filepath.Join("../../testdata/cases", c.dir))
			if err != nil {
				t.Fatal(err)
			}
			red, err := snapshot.Redact(s, []byte("key of the test"))
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "redacted")
			if err := snapshot.Save(out, red.Snapshot); err != nil {
				t.Fatal(err)
			}
			assertAbsent(t, out, c.canaries)
		})
	}
}

func assertAbsent(t *testing.T, dir string, canaries []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range canaries {
			if i := bytes.Index(data, []byte(c)); i >= 0 {
				t.Errorf("%s still says %q: …%s…", path, c, data[max(0, i-60):min(len(data), i+60)])
			}
			if strings.Contains(path, c) {
				t.Errorf("the file name %s still says %q", path, c)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The same input becomes the same token, another key another one.
func TestRedactIsConsistent(t *testing.T) {
	t.Parallel()
	s, err := snapshot.Load("../../testdata/cases/founding-rbd-node-exporter")
	if err != nil {
		t.Fatal(err)
	}
	names := func(key string) string {
		r, err := snapshot.Redact(s, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range r.Snapshot.Cluster.Nodes {
			out = append(out, n.Name)
		}
		return strings.Join(out, " ")
	}
	if a, b := names("one"), names("one"); a != b {
		t.Errorf("one key, two results: %s and %s", a, b)
	}
	if a, b := names("one"), names("two"); a == b {
		t.Errorf("two keys, one result: %s", a)
	}
}
