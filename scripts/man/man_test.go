package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPages: each verb has a page, with its flags, and two runs give the same bytes.
func TestPages(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if err := pages(dir, "v1.2.3"); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"", "-pvc", "-pod", "-volume", "-node", "-cluster", "-capture", "-explain", "-causes", "-cleanup"} {
		name := "kubectl-mountdoctor" + verb + ".1"
		text, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), ".SH OPTIONS") || !strings.Contains(string(text), "v1.2.3") {
			t.Errorf("%s:\n%s", name, text)
		}
		again, err := os.ReadFile(filepath.Join(two, name))
		if err != nil || string(again) != string(text) {
			t.Errorf("%s differs, or %v", name, err)
		}
	}
}
