package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCurrent: docs/licences.md names the modules that are linked now.
func TestCurrent(t *testing.T) {
	t.Parallel()
	want, err := report()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "licences.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/licences.md is not current; make licences (-file +now):\n%s", diff)
	}
}
