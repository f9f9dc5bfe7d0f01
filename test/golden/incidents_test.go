package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIncidentsPage keeps docs/incidents.md: the reports of the incidents that the
// program was written for, each after its own story.
func TestIncidentsPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("# The incidents that it was written for\n\nEach report below is what the program prints today for a recorded incident; `make golden` renews\nthis page. `make demo CASE=NAME` prints one in your terminal.\n")
	for _, name := range incidents {
		if !strings.HasPrefix(name, "founding-") {
			continue
		}
		dir := filepath.Join("..", "..", "testdata", "cases", name)
		b.WriteString("\n## " + name + "\n\n" + story(t, dir) + "\n\n```\n$ kubectl mountdoctor " + ask(t, dir) + "\n" + run(t, name, "text") + "```\n")
	}
	compare(t, filepath.Join("..", "..", "docs", "incidents.md"), b.String())
}

// story is the README of a case without its title and its source.
func story(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "\n")
	text, _, _ = strings.Cut(text, "\nSource:")
	return strings.TrimSpace(text)
}

func ask(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "ask.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}
