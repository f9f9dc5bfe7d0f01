package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestExpressionsOfTheProgram compiles what is written in a call of MustCompile anywhere in the program: it is
// compiled late there, and must not fail at somebody's desk. What is joined of literals counts as one, and what a
// name stands for is left out.
func TestExpressionsOfTheProgram(t *testing.T) {
	t.Parallel()
	count := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "MustCompile" {
				return true
			}
			count++
			if _, err := regexp.Compile(literal(call.Args[0])); err != nil {
				t.Errorf("%s: %v", files.Position(call.Pos()), err)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 300 {
		t.Errorf("only %d expressions were found", count)
	}
}

// literal is what is written out of an expression.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}
