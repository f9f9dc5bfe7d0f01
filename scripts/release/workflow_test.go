package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var (
	uses   = regexp.MustCompile(`(?m)^\s*(?:-\s+)?["']?uses["']?\s*:.*$`)
	pinned = regexp.MustCompile(`^\s*(?:-\s+)?uses: [A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// TestActionsPinned: every action is pinned by the hash of a commit, with its version
// beside it. A tag can be moved to other code by whoever owns the action.
func TestActionsPinned(t *testing.T) {
	t.Parallel()
	for _, file := range workflows(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range unpinned(string(text)) {
			t.Errorf("%s: %s is not pinned", file, line)
		}
	}
}

// unpinned are the lines that name an action in any other form.
func unpinned(text string) []string {
	var out []string
	for _, line := range uses.FindAllString(text, -1) {
		if !pinned.MatchString(strings.TrimRight(line, " ")) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestUnpinned(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0a", 20)
	for line, want := range map[string]int{
		"    - uses: actions/checkout@" + hash + " # v6.0.2":      0,
		"      uses: a/b/c@" + hash + " # v1.0.0":                 0,
		"    - uses: actions/checkout@v6":                         1,
		"    - uses: actions/checkout@main # v6.0.2":              1,
		"    - uses: actions/checkout@" + hash[:12] + " # v6.0.2": 1,
		"    - uses: actions/checkout@" + hash:                    1,
		"    - \"uses\": actions/checkout@v6":                     1,
		"    - uses: docker://alpine:3":                           1,
		"    - uses: ./local":                                     1,
	} {
		if got := unpinned(line); len(got) != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestWorkflowRights: nothing is granted but what a job asks for, and only the job that
// publishes may write and has an identity to sign with.
func TestWorkflowRights(t *testing.T) {
	t.Parallel()
	for _, file := range workflows(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			Permissions map[string]string
			Jobs        map[string]struct{ Permissions map[string]string }
		}
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatal(file, err)
		}
		check(t, w.Permissions != nil && len(w.Permissions) == 0, "%s: permissions %v", file, w.Permissions)
		for name, job := range w.Jobs {
			for scope, right := range job.Permissions {
				check(t, right == "read" || name == "publish", "%s: job %s may %s %s", file, name, right, scope)
			}
			check(t, job.Permissions != nil, "%s: job %s does not say what it needs", file, name)
		}
	}
}

func workflows(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.y*ml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	return files
}
