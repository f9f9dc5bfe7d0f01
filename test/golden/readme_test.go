package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme keeps the reports that the README shows: what the program prints today.
func TestReadme(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "README.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, name := range []string{"multipathd-mount-busy-1210", "founding-rbd-node-exporter"} {
		begin := "```\n$ kubectl mountdoctor " + ask(t, filepath.Join("..", "..", "testdata", "cases", name)) + "\n"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, "\n```\n")
		if !ok || !closed {
			t.Fatalf("the README shows no report of %s", name)
		}
		text = before + begin + strings.TrimRight(run(t, name, "text"), "\n") + "\n```\n" + after
	}
	compare(t, path, text)
}
