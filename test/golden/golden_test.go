// Package golden compares whole reports of recorded incidents with files that
// are reviewed as prose: they are the product.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// incidents are the cases whose reports are kept: the five that the program was
// written for, and one of each kind of answer.
var incidents = []string{
	"founding-multiattach-node-shutdown", "founding-multipathd-busy", "founding-rbd-node-exporter", "founding-remount-bare-pod",
	"founding-remount-subpath", "founding-rwx-hostname-clash",
	"healthy-lvm-local-volumes", "waiting-first-consumer", "partial-multipath-pod-rejected", "partial-node-exporter-unprobed",
	"networkpolicy-3260-13802", "harvester-guest-node-deleted-va-stuck",
}

// formats by file extension.
var formats = map[string]string{"txt": "text", "json": "json"}

func TestGolden(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	for _, name := range incidents {
		for ext, format := range formats {
			t.Run(name+"."+ext, func(t *testing.T) {
				t.Parallel()
				got := run(t, name, format)
				if format == "json" {
					validate(t, schema, got)
				} else {
					fits(t, got)
				}
				compare(t, filepath.Join("..", "..", "testdata", "golden", name+"."+ext), got)
			})
		}
	}
}

// TestEveryReportIsValid holds every case to the public schema: a half of them unless ALL_LOSSES is set, as .ci/run does.
func TestEveryReportIsValid(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	dirs, err := filepath.Glob("../../testdata/cases/*/ask.txt")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, ask := range dirs {
		name := filepath.Base(filepath.Dir(ask))
		if !corpus.Tried(2, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			validate(t, schema, run(t, name, "json"))
		})
	}
}

// TestMain reads every incident at its own time: none is old.
func TestMain(m *testing.M) {
	plugin.Clock = func() time.Time { return time.Time{} }
	os.Exit(m.Run())
}

func run(t *testing.T, name, format string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "testdata", "cases", name)
	ask, err := os.ReadFile(filepath.Join(dir, "ask.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	args := append(strings.Fields(string(ask)), "--from", dir, "-o", format, "--color", "never")
	code := plugin.Main(args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errs})
	if code == plugin.ExitFailed {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if errs.Len() > 0 {
		t.Errorf("words on stderr: %s", errs.String())
	}
	return out.String()
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make golden writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if the change is meant, make golden:\n%s", path, diff)
	}
}

// fits allows 80 columns; only what cannot be cut may be longer: words of a shell,
// and a name that stands alone.
func fits(t *testing.T, text string) {
	t.Helper()
	for i, l := range strings.Split(text, "\n") {
		if n := len([]rune(l)); n > 80 && len(strings.Fields(l)) > 3 && !strings.Contains(l, "$ ") && !strings.HasPrefix(strings.TrimSpace(l), "--") && !strings.Contains(l, "'") {
			t.Errorf("line %d has %d columns: %s", i+1, n, l)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, raw string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("the report breaks its schema: %v", err)
	}
}
