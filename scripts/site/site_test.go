package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

// TestSite writes the sources and follows every link between pages.
func TestSite(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := site(filepath.Join("..", ".."), out, "https://example.org/"); err != nil {
		t.Fatal(err)
	}
	docs, count := filepath.Join(out, "docs"), 0
	err := filepath.WalkDir(docs, func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		count++
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			target := filepath.Join(filepath.Dir(path), m[1])
			if strings.Contains(m[1], "://") || strings.Contains(m[1], "/blob/main/") {
				continue
			}
			if _, err := os.Stat(target); err != nil && strings.HasSuffix(m[1], ".md") {
				t.Errorf("%s links to %s, which is no page", strings.TrimPrefix(path, docs), m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if least := len(causes.Catalog().Rules) + len(pages) + 3; count != least {
		t.Errorf("%d pages, want %d", count, least)
	}
}

// TestSymptomsAreSaid asks that every symptom has the words by which people know it.
func TestSymptomsAreSaid(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range causes.Catalog().Symptoms {
		known[s.Name] = true
		if seen[s.Name].words == "" || seen[s.Name].ask == "" {
			t.Errorf("symptom %s has no words in the page from symptom to command", s.Name)
		}
	}
	for name := range seen {
		if !known[name] {
			t.Errorf("there is no symptom %s", name)
		}
	}
}
