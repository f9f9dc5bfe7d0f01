package host_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Every recording of the corpus is well formed.
func TestParseRecordingCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../testdata/cases/*/nodes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings found: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r, err := host.ParseRecording(data)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if b, err := r.ReadFile("proc/1/mountinfo", 0); err != nil || len(b) == 0 {
			t.Errorf("%s: proc/1/mountinfo: %v", f, err)
		}
	}
}
