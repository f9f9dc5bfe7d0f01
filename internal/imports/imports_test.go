// Package imports checks the import table of ARCHITECTURE.md without a linter.
package imports

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mountdoctor/kubectl-mountdoctor/"

// table says what each folder may import of this module, and which modules of
// others. A package belongs to the longest prefix.
var table = map[string]struct {
	own    []string
	others []string // nil: anything
}{
	"cmd/kubectl-mountdoctor": {own: []string{"pkg/plugin"}, others: []string{"k8s.io/cli-runtime"}},
	"cmd/mountdoctor-agent":   {own: []string{"pkg/probes"}, others: []string{"golang.org/x/sys"}},
	"pkg/plugin":              {own: []string{"pkg", "deploy/rbac", "deploy/completion"}},
	"pkg/collect":             {own: []string{"pkg/collect", "pkg/serverclock", "pkg/snapshot", "pkg/probes", "pkg/diagnosis"}},
	"pkg/launch":              {own: []string{"pkg/launch", "pkg/serverclock", "pkg/snapshot", "pkg/probes"}},
	"pkg/launch/agents":       {own: []string{"pkg/launch/agents"}, others: []string{"github.com/klauspost/compress"}},
	"pkg/serverclock":         {own: []string{}, others: []string{}},
	"pkg/probes":              {own: []string{"pkg/probes"}, others: []string{"golang.org/x/sys"}},
	"pkg/snapshot":            {own: []string{"pkg/snapshot", "pkg/probes"}, others: []string{"k8s.io/api", "k8s.io/apimachinery", "sigs.k8s.io/yaml", "sigs.k8s.io/json", "golang.org/x/tools/txtar"}},
	"pkg/evidence":            {own: []string{"pkg/evidence", "pkg/snapshot", "pkg/report", "pkg/probes"}, others: []string{"k8s.io/api", "k8s.io/apimachinery"}},
	"pkg/diagnosis":           {own: []string{"pkg/diagnosis", "pkg/evidence", "pkg/snapshot", "pkg/report", "pkg/probes"}, others: []string{"k8s.io/api", "k8s.io/apimachinery"}},
	"pkg/report":              {own: []string{}, others: []string{}},
	"pkg/render":              {own: []string{"pkg/report"}, others: []string{"github.com/olekukonko/tablewriter", "github.com/clipperhouse/displaywidth", "sigs.k8s.io/yaml"}},
	"internal":                {own: []string{"internal", "pkg"}},
	"internal/modules":        {own: []string{}, others: []string{}},
	"scripts/man":             {own: []string{"pkg/plugin"}},
	"scripts/site":            {own: []string{"pkg/diagnosis"}, others: []string{}},
	"scripts":                 {own: []string{"internal/modules", "internal/sketch"}, others: []string{"k8s.io/apimachinery/pkg/util/yaml", "sigs.k8s.io/yaml"}},
}

// unstructured objects are taken apart in pkg/snapshot alone, where a test holds every
// field path that is read against the schemas of its owner.
const unstructured = "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// pure packages may not reach the machine, the network or the clock.
var pure = map[string][]string{
	"pkg/evidence":  {"os", "os/exec", "net/http", "syscall", "io/ioutil", unstructured},
	"pkg/diagnosis": {"os", "os/exec", "net/http", "syscall", "io/ioutil", unstructured},
	"pkg/render":    {"os", "os/exec", "net", "net/http", "syscall"},
	// What a text means is asked of pkg/evidence.
	"pkg/diagnosis/causes": {"regexp", module + "pkg/probes/pattern", module + "pkg/evidence/message"},
	"pkg/report":           {"os", "os/exec", "net", "net/http", "syscall", "time"},
}

// TestImports reads every Go file that is not a test.
func TestImports(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "pkg", "internal", "scripts"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			checkFile(t, path, filepath.ToSlash(rel))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func checkFile(t *testing.T, path, rel string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("parse %s: %v", rel, err)
		return
	}
	folder := ""
	for prefix := range table {
		if strings.HasPrefix(rel, prefix+"/") && len(prefix) > len(folder) {
			folder = prefix
		}
	}
	if folder == "" {
		t.Errorf("%s is in no folder of the import table", rel)
		return
	}
	for _, spec := range f.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		if !allowed(folder, name) {
			t.Errorf("%s must not import %s", rel, name)
		}
		for prefix, banned := range pure {
			if strings.HasPrefix(rel, prefix+"/") && slices.Contains(banned, name) {
				t.Errorf("%s must not import %s: the package is pure", rel, name)
			}
		}
	}
}

func allowed(folder, name string) bool {
	entry := table[folder]
	if own, ok := strings.CutPrefix(name, module); ok {
		return below(own, entry.own)
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	return entry.others == nil || below(name, entry.others)
}

func below(name string, list []string) bool {
	for _, p := range list {
		if name == p || strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

// TestCauseFolders asks that the folders of causes hold nothing but causes: each file has
// the document of its cause beside it; docs.go embeds them.
func TestCauseFolders(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "pkg", "diagnosis", "causes", "*", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".go")
		if strings.HasSuffix(name, "_test") || filepath.Base(name) == "docs" {
			continue
		}
		if _, err := os.Stat(name + ".md"); err != nil {
			t.Errorf("%s is no cause: %v", file, err)
		}
	}
}

// TestDurations asks that durations come from one writer (report.Duration): 48m0s is
// how Go writes them, and nobody else.
func TestDurations(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"pkg/diagnosis", "pkg/evidence", "pkg/render"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, other := range []string{".Round(time.", "HumanDuration("} {
				if strings.Contains(string(raw), other) {
					t.Errorf("%s writes a duration with %s; evidence.Duration does", path, other)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
