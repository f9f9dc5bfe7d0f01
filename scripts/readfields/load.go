package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "github.com/mountdoctor/kubectl-mountdoctor/"

// readers are the packages whose reading counts.
var readers = []string{"./pkg/..."}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// checked is a package of ours with its types.
type checked struct {
	path  string
	files map[string]*ast.File // by base name
	info  *types.Info
}

// load type-checks the packages of this module and takes all others from the
// build cache.
func load(root string) ([]checked, error) {
	list, err := goList(root)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	exports, ours := map[string]string{}, map[string]*types.Package{}
	gc := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	imports := importerFunc(func(path string) (*types.Package, error) {
		if p := ours[path]; p != nil {
			return p, nil
		}
		return gc.Import(path)
	})
	var out []checked
	for _, p := range list { // dependencies first
		if !strings.HasPrefix(p.ImportPath, module) {
			exports[p.ImportPath] = p.Export
			continue
		}
		c := checked{path: p.ImportPath, files: map[string]*ast.File{}, info: &types.Info{
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		}}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files, c.files[name] = append(files, f), f
		}
		conf := types.Config{Importer: imports}
		if ours[p.ImportPath], err = conf.Check(p.ImportPath, fset, files, c.info); err != nil {
			return nil, fmt.Errorf("check %s: %w", p.ImportPath, err)
		}
		out = append(out, c)
	}
	return out, nil
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func goList(root string) ([]listed, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, readers...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
	}
	var out []listed
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
}
