package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// all stands for every field of a type.
const all = "*"

const (
	meta       = "k8s.io/apimachinery/pkg/apis/meta/v1."
	objectMeta = meta + "ObjectMeta"
)

// reads are the fields that are read, by type.
type reads map[string]map[string]bool

func (r reads) add(t, field string) {
	if r[t] == nil {
		r[t] = map[string]bool{}
	}
	r[t][field] = true
}

// never are fields that no capture may hold, whoever reads them.
var never = map[string]bool{
	"k8s.io/api/core/v1.Container.Env": true, "k8s.io/api/core/v1.Container.EnvFrom": true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.ObjectMeta.ManagedFields": true,
}

// writer tells files that read objects only to take them in or to write them: the
// decoders and the capture itself.
func writer(pkg, file string) bool {
	if pkg != module+"pkg/snapshot" {
		return false
	}
	for _, prefix := range []string{"save", "redact", "trim", "decode", "event_decode", "longhorn_decode", "load"} {
		if strings.HasPrefix(file, prefix) {
			return true
		}
	}
	return false
}

// counts tells whether a package judges evidence: those that only gather it, start
// probes or talk to the user see it before it is saved.
func counts(path string) bool {
	for _, other := range []string{"plugin", "collect", "launch", "probes", "render", "report"} {
		if path == module+"pkg/"+other || strings.HasPrefix(path, module+"pkg/"+other+"/") {
			return false
		}
	}
	return strings.HasPrefix(path, module+"pkg/")
}

// generate makes the table.
func generate(root string) ([]byte, error) {
	packages, err := load(root)
	if err != nil {
		return nil, err
	}
	found := reads{}
	for _, p := range packages {
		if !counts(p.path) {
			continue
		}
		for name, f := range p.files {
			if !writer(p.path, name) {
				ast.Inspect(f, func(n ast.Node) bool { found.node(p.info, n); return true })
				err = errors.Join(err, found.unnamed(p.info, f))
			}
		}
	}
	for name := range settingFuncs {
		if !found[asked][name] {
			err = errors.Join(err, fmt.Errorf("nobody calls %s: settingFuncs of scripts/readfields names a function that is gone", name))
		}
	}
	if err != nil {
		return nil, err
	}
	return found.source()
}

func (r reads) node(info *types.Info, n ast.Node) {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if s := info.Selections[n]; s != nil {
			r.selection(s)
		}
	case *ast.CallExpr:
		r.call(info, n)
		r.setting(info, n)
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			r.compared(info.TypeOf(n.X))
		}
	}
}

// selection notes every field on the way, those of embedded structs too.
func (r reads) selection(s *types.Selection) {
	t := s.Recv()
	index := s.Index()
	if s.Kind() != types.FieldVal {
		index = index[:len(index)-1]
	}
	for _, i := range index {
		name, st := structOf(t)
		if st == nil {
			return
		}
		if name != "" {
			r.add(name, st.Field(i).Name())
		}
		t = st.Field(i).Type()
	}
	if s.Kind() == types.FieldVal {
		return
	}
	method := s.Obj().Name()
	if name, st := structOf(t); name != "" && st != nil && !strings.HasSuffix(name, ".ObjectMeta") {
		r.add(name, all) // a method of Kubernetes may read anything
		return
	}
	if field, ok := strings.CutPrefix(method, "Get"); ok && field != "" && field != "ObjectKind" && field != "ObjectMeta" {
		r.add(objectMeta, field)
	}
}

// structOf is the name of a type of Kubernetes and its struct; the name is empty
// for types of others.
func structOf(t types.Type) (string, *types.Struct) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	st, _ := t.Underlying().(*types.Struct)
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), "k8s.io/") {
		return "", st
	}
	return named.Obj().Pkg().Path() + "." + named.Obj().Name(), st
}

// opaque are packages that look into no struct, but for comparing.
var opaque = map[string]bool{"slices": true, "maps": true, "sort": true, "cmp": true, "iter": true}

// call notes structs that are given to others, who may read anything.
func (r reads) call(info *types.Info, c *ast.CallExpr) {
	if tv, ok := info.Types[c.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return
	}
	obj := callee(info, c.Fun)
	if obj == nil || obj.Pkg() == nil || strings.HasPrefix(obj.Pkg().Path(), module) {
		return
	}
	compares := obj.Name() == "Contains" || obj.Name() == "Index" || obj.Name() == "Equal" || obj.Name() == "Compact"
	if opaque[obj.Pkg().Path()] && !compares {
		return
	}
	if obj.Pkg().Path() == strings.TrimSuffix(meta, ".") && strings.Contains(obj.Name(), "Control") { // GetControllerOf, IsControlledBy
		r.add(objectMeta, "OwnerReferences")
		r.add(meta+"OwnerReference", all)
		return
	}
	for _, a := range c.Args {
		t := info.TypeOf(a)
		if name, st := structOf(t); name != "" && st != nil && !opaque[obj.Pkg().Path()] {
			r.add(name, all) // by pointer, too
			continue
		}
		r.compared(t)
	}
}

// unnamed finds functions that ask for a setting whose name is no constant, and are not
// known to take it: a capture would lose it.
func (r reads) unnamed(info *types.Info, f *ast.File) (err error) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if _, passes := settingFuncs[fn.Name.Name]; passes {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if name, value := settingOf(info, c); name != "" && value == nil {
					err = errors.Join(err, fmt.Errorf("%s asks %s for a setting by a name that is no constant: write it out, or add the function to settingFuncs of scripts/readfields", fn.Name.Name, name))
				}
			}
			return true
		})
	}
	return err
}

func callee(info *types.Info, fun ast.Expr) types.Object {
	switch f := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return info.Uses[f]
	case *ast.SelectorExpr:
		return info.Uses[f.Sel]
	case *ast.IndexExpr:
		return callee(info, f.X)
	case *ast.IndexListExpr:
		return callee(info, f.X)
	}
	return nil
}

// compared notes a struct, or a list or map of it, as read whole.
func (r reads) compared(t types.Type) {
	for t != nil {
		switch u := t.Underlying().(type) {
		case *types.Slice:
			t = u.Elem()
			continue
		case *types.Map:
			t = u.Elem()
			continue
		case *types.Pointer:
			if _, ok := u.Elem().Underlying().(*types.Struct); !ok {
				return
			}
		}
		break
	}
	if t == nil {
		return
	}
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		return // compared with nil, or by identity
	}
	if name, st := structOf(t); name != "" && st != nil {
		r.add(name, all)
	}
}

// source is the table as Go.
func (r reads) source() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("package snapshot\n\n// Code generated by scripts/readfields. DO NOT EDIT.\n\n" +
		"// readFields are the fields of Kubernetes' types that the rules and the index read;\n" +
		"// a capture holds no others. A star is every field.\nvar readFields = map[string][]string{\n")
	for _, t := range slices.Sorted(maps.Keys(r)) {
		if !strings.HasPrefix(t, "k8s.io/api/") && !strings.HasPrefix(t, meta) {
			continue
		}
		fields := slices.Sorted(maps.Keys(r[t]))
		fields = slices.DeleteFunc(fields, func(f string) bool { return never[t+"."+f] })
		if r[t][all] {
			fields = []string{all}
		}
		fmt.Fprintf(&out, "\t%q: {", t)
		for i, f := range fields {
			if i > 0 {
				out.WriteString(", ")
			}
			fmt.Fprintf(&out, "%q", f)
		}
		out.WriteString("},\n")
	}
	out.WriteString("}\n\n// readSettings are the settings of Longhorn that rules read.\nvar readSettings = map[string]bool{\n")
	for _, name := range slices.Sorted(maps.Keys(r[settings])) {
		fmt.Fprintf(&out, "\t%q: true,\n", name)
	}
	out.WriteString("}\n")
	return format.Source(out.Bytes())
}
