package snapshot

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// origin is where the text of a field of ours comes from: Volume status.state.
type origin map[string][]string

// heldBy finds out which field of ours holds which field of Longhorn's: each text of
// an object is a mark of its own, and the decoded object is searched for the marks.
func heldBy(all schemas) origin {
	out := origin{}
	for kind, read := range decoders {
		marks := map[string]string{}
		object := map[string]any{}
		for _, version := range all.all() {
			for path, what := range all[version][kind] {
				mark := "mark-" + strconv.Itoa(len(marks))
				if strings.HasPrefix(what, "string") {
					marks[mark] = kind + " " + path
				}
				place(object, path, what, mark)
			}
		}
		var failed error
		search(reflect.ValueOf(read(fields{m: object, err: &failed})), "", func(where, text string) {
			if from := marks[text]; from != "" && !slices.Contains(out[where], from) {
				out[where] = append(out[where], from)
			}
		})
	}
	return out
}

// search tells every text below a value, by the type and field that hold it.
func search(v reflect.Value, where string, tell func(where, text string)) {
	switch v.Kind() {
	case reflect.String:
		tell(where, v.String())
	case reflect.Pointer:
		if !v.IsNil() && v.Type().Elem().Name() != "Unstructured" {
			search(v.Elem(), where, tell)
		}
	case reflect.Slice:
		for i := range v.Len() {
			search(v.Index(i), where, tell)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			search(v.MapIndex(key), where, tell)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			search(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name, tell)
		}
	}
}

// TestLonghornValues holds every text that the code compares a field of Longhorn with
// against the enumeration that the schemas have for the field. Most states and all types
// and reasons of conditions are plain strings there: those are origin against the constants
// of longhorn-manager, which values.txt lists.
func TestLonghornValues(t *testing.T) {
	if testing.Short() {
		t.Skip("loads all packages")
	}
	t.Parallel()
	all := readSchemas(t)
	constants := readConstants(t)
	from := heldBy(all)
	for field, compared := range comparisons(t) {
		origins := from[field]
		if len(origins) == 0 {
			continue // made by the decoders, or not Longhorn's
		}
		var allowed []string
		for _, o := range origins {
			kind, path, _ := strings.Cut(o, " ")
			allowed = slices.Concat(allowed, all.enumeration(kind, path))
		}
		if len(allowed) == 0 {
			allowed = constants[field]
		}
		for value, at := range compared {
			if !slices.Contains(allowed, value) {
				t.Errorf("%s: %s (%s) is compared with %q; known are %q", at, field, strings.Join(origins, ", "), value, allowed)
			}
		}
	}
}

// enumeration is what any release allows in a field.
func (s schemas) enumeration(kind, path string) []string {
	values := map[string]bool{}
	for _, version := range s.all() {
		_, list, ok := strings.Cut(s[version][kind][path], " ")
		for _, word := range strings.Split(list, "|") {
			if value, err := strconv.Unquote(word); ok && err == nil {
				values[value] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// comparisons are the texts that fields of this package are compared with in the code
// (==, !=, switch, EqualFold, Contains, Get of conditions), and where.
func comparisons(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedExportFile,
	}, "../...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors[0])
		}
		see := func(field ast.Expr, value ast.Expr) {
			text, ok := constant(p.TypesInfo, value)
			if !ok || text == "" {
				return
			}
			f := selected(p.TypesInfo, field)
			if out[f] == nil {
				out[f] = map[string]string{}
			}
			out[f][text] = p.Fset.Position(value.Pos()).String()
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				look(n, see)
				return true
			})
		}
	}
	if len(out) < 10 {
		t.Fatalf("only %d fields are compared with anything", len(out))
	}
	return out
}

func look(n ast.Node, see func(field, value ast.Expr)) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			see(n.X, n.Y)
		}
	case *ast.SwitchStmt:
		for _, s := range n.Body.List {
			for _, value := range s.(*ast.CaseClause).List {
				see(n.Tag, value)
			}
		}
	case *ast.CallExpr: // strings.EqualFold(field, "text"), slices.Contains([]string{"text"}, field), conditions.Get("text")
		fun, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || len(n.Args) == 0 {
			return
		}
		switch list, isList := n.Args[0].(*ast.CompositeLit); {
		case fun.Sel.Name == "Get" && len(n.Args) == 1:
			see(fun.X, n.Args[0])
		case len(n.Args) != 2:
		case isList:
			for _, value := range list.Elts {
				see(n.Args[1], value)
			}
		case fun.Sel.Name == "EqualFold":
			see(n.Args[0], n.Args[1])
		}
	}
}

func constant(info *types.Info, e ast.Expr) (string, bool) {
	v := info.Types[e].Value
	if v == nil {
		return "", false
	}
	text, err := strconv.Unquote(v.ExactString())
	return text, err == nil
}

// selected is the type and the field of a selector; of conditions it is the list.
func selected(info *types.Info, e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	v, ok := info.Uses[s.Sel].(*types.Var)
	if !ok || !v.IsField() || v.Pkg() == nil || !strings.HasSuffix(v.Pkg().Path(), "/pkg/snapshot") {
		return ""
	}
	recv := info.Types[s.X].Type
	if choice := info.Selections[s]; choice != nil && len(choice.Index()) > 1 {
		recv = embedded(choice)
	}
	if p, ok := recv.(*types.Pointer); ok {
		recv = p.Elem()
	}
	named, ok := recv.(*types.Named)
	if !ok {
		return ""
	}
	if s.Sel.Name == "Conditions" {
		return "Condition.Type"
	}
	return named.Obj().Name() + "." + s.Sel.Name
}

// embedded is the type of the embedded struct that a promoted field lies in.
func embedded(choice *types.Selection) types.Type {
	t := choice.Recv()
	for _, i := range choice.Index()[:len(choice.Index())-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		t = t.Underlying().(*types.Struct).Field(i).Type()
	}
	return t
}

// readConstants reads values.txt.
func readConstants(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "longhorn-schemas", "values.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if field, values, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			out[field] = strings.Fields(values)
		}
	}
	return out
}
