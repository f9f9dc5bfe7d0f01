package host

import (
	"os"
	"path/filepath"
	"testing"
)

// recordings returns every recording that the repository holds.
func recordings(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{
		"../../../testdata/cases/*/nodes/*.txtar",
		"../testdata/kernels/*/*.txtar",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		t.Fatal("no recordings found")
	}
	return all
}

func TestEveryRecordingParses(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseRecording(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if _, err := r.ReadFile("proc/1/mountinfo", 0); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
