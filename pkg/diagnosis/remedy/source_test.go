package remedy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestCommandsAreConstructed reads the source of the rules and steps: every command that
// is shown is made by one of the constructors, word by word, and each option that they are
// given is in the table of pkg/report/shell.go (else the command would never be printed).
func TestCommandsAreConstructed(t *testing.T) {
	t.Parallel()
	makers := []string{"Kubectl", "OnNode", "Quote", "Inline", "Shell"}
	fset := token.NewFileSet()
	visit := func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name := called(call); {
		case slices.Contains(makers, name):
			program := "program"
			if first, _ := literal(call.Args[0]); name == "Kubectl" || first == "kubectl" {
				program = "kubectl"
			}
			for _, a := range call.Args {
				if word, ok := literal(a); ok && report.Hidden(report.Shell(program, word)) {
					t.Errorf("%s: the option %s is not in the table of pkg/report/shell.go", fset.Position(a.Pos()), word)
				}
			}
		case name == "Check" && len(call.Args) > 1:
			for _, a := range call.Args[1:] {
				if _, joined := a.(*ast.BinaryExpr); joined {
					t.Errorf("%s: a command is made by remedy.Kubectl, OnNode or Quote, not joined", fset.Position(a.Pos()))
				}
			}
		}
		return true
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err == nil {
			ast.Inspect(file, visit)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}
