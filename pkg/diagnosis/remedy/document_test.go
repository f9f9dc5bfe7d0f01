package remedy

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/remedies.md")

const document = "../../../docs/remedies.md"

const preface = `# Remedies

Every step above read-only that a report can advise, with its class of risk, its commands and the
guards that make it safe. The tool never takes a step. A command is printed only when the cause is
certain and every guard was answered with *yes* from facts that were read whole; the facts stand
below it as *safe because*. Where a guard says *no* or could not be answered, the command is
withheld, and the step says what has to be settled and which read-only command shows it.

Upper case stands for what a report fills in. This file is written by
` + "`go test ./pkg/diagnosis/remedy -update`" + `; do not edit it.

| class | means |
| --- | --- |
| read-only | looks |
| reversible | can be undone without a trace |
| disruptive | ends or interrupts something that comes back |
| data-loss | loses data when what was seen is no longer so |
`

// TestDocument compares docs/remedies.md with the constructors.
func TestDocument(t *testing.T) {
	t.Parallel()
	got := written()
	if *update {
		if err := os.WriteFile(document, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/remedies.md is not that of the constructors; write it with go test ./pkg/diagnosis/remedy -update (-want +got):\n%s", diff)
	}
}

func written() string {
	var b strings.Builder
	b.WriteString(preface)
	all := samples()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		fmt.Fprintf(&b, "\n## %s (%s)\n\nClass **%s**. %s\n", name, s.Name, s.Risk, s.Title)
		for _, list := range []struct {
			word     string
			commands []string
		}{{"Commands", text(s.Commands)}, {"Undo", text(s.Undo)}, {"Verify", text(s.Verify)}} {
			if len(list.commands) > 0 {
				fmt.Fprintf(&b, "\n%s:\n\n```sh\n%s\n```\n", list.word, strings.Join(list.commands, "\n"))
			}
		}
		fmt.Fprintf(&b, "\n| guard | what must be so | how to look |\n| --- | --- | --- |\n")
		for _, g := range s.Guards {
			fmt.Fprintf(&b, "| %s | %s | `%s` |\n", g.Question, g.Fact, strings.ReplaceAll(strings.Join(text(g.Look), "`, `"), "|", `\|`))
		}
	}
	return b.String()
}

// TestEveryConstructorIsSampled finds a constructor of a step that the samples, and so
// the document and the tests of the guards, do not know.
func TestEveryConstructorIsSampled(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"Words": true, "Check": true, "Show": true, "CephLook": true, "StartStatd": true, "ControllerLog": true, "SidecarLog": true, "ScaleUp": true, "Staff": true, "PodLooks": true} // of words and looks
	for name := range samples() {
		constructor, _, _ := strings.Cut(strings.ReplaceAll(name, ",", " "), " ")
		known[constructor] = true
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Type.Results == nil {
				continue
			}
			result, ok := fn.Type.Results.List[0].Type.(*ast.Ident)
			if ok && result.Name == "Step" && !known[fn.Name.Name] {
				t.Errorf("%s: the samples do not know %s", file.Name(), fn.Name.Name)
			}
		}
	}
}
