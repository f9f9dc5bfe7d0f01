package snapshot

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var planted = regexp.MustCompile(`(?i)canary[0-9A-Za-z]*`)

// TestHostileCapture writes the snapshot of testdata/hostile in which somebody planted
// passwords: no capture holds one of them.
func TestHostileCapture(t *testing.T) {
	t.Parallel()
	s := loaded(t, filepath.Join("..", "..", "testdata", "hostile", "secrets-in-capture"))
	if len(s.Nodes) == 0 || len(s.Logs) == 0 || len(s.Cluster.Pods) == 0 {
		t.Fatal("the snapshot was not read whole")
	}
	for name, of := range map[string]*Snapshot{"plain": s, "redacted": redactedFor(t, s)} {
		for file, data := range written(t, of) {
			for _, c := range planted.FindAllString(file+"\n"+data, -1) {
				t.Errorf("the %s capture holds %s in %s: %s", name, c, file, around(data, c))
			}
		}
	}
}

func redactedFor(t *testing.T, s *Snapshot) *Snapshot {
	t.Helper()
	r, err := Redact(s, []byte("key of the test"))
	if err != nil {
		t.Fatal(err)
	}
	return r.Snapshot
}

// written are the files of a capture.
func written(t *testing.T, s *Snapshot) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := write(s, func(name string, data []byte) error {
		out[name] = string(data)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func around(data, word string) string {
	i := strings.Index(data, word)
	if i < 0 {
		return word
	}
	return data[max(0, i-60):min(len(data), i+60)]
}

// TestCanariesInObjects fills every field of every kind with a canary: in a plain
// capture those stand that the table of read fields names, in a redacted one none.
func TestCanariesInObjects(t *testing.T) {
	t.Parallel()
	s := &Snapshot{TakenAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	f := &filler{}
	for _, k := range kinds {
		o := reflect.New(reflect.TypeOf(k.copied(emptyOf(t, k))).Elem())
		f.fill(o.Elem(), k.Kind, 0)
		k.add(&s.Cluster, o.Interface().(metav1.Object))
	}
	if f.n < 150 {
		t.Fatalf("%d canaries, want 150 and more", f.n)
	}
	plain := strings.Join(values(written(t, s)), "")
	for path, canary := range f.planted {
		if strings.Contains(plain, canary) && !isRead(path) {
			t.Errorf("the plain capture holds %s, which no rule reads", path)
		}
	}
	for file, data := range written(t, redactedFor(t, s)) {
		for _, c := range planted.FindAllString(vendors.ReplaceAllString(data, ""), -1) {
			t.Errorf("the redacted capture holds %s in %s: %s", c, file, around(data, c))
		}
	}
	t.Logf("%d canaries in objects", f.n)
}

// vendors are the names of drivers, which are their vendors' own and stay.
var vendors = regexp.MustCompile(`"(?:driver|provisioner|attacher)":"[^"]*"|"name":"[^"]*","nodeID"|"kind":"CSIDriver".*|"allocatable":\{[^}]*\},"name":"[^"]*"`)

// emptyOf is an object of a kind.
func emptyOf(t *testing.T, k *kind) metav1.Object {
	t.Helper()
	o, err := k.decode([]byte(`{"metadata":{"name":"a"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func values(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// filler plants canaries.
type filler struct {
	n       int
	planted map[string]string // TYPE.FIELD → canary
}

func (f *filler) canary(at string) string {
	f.n++
	word := fmt.Sprintf("canaryq%s", strings.Map(func(r rune) rune { return 'g' + r - '0' }, fmt.Sprintf("%06d", f.n)))
	if f.planted == nil {
		f.planted = map[string]string{}
	}
	f.planted[at] = word
	return word
}

// fill sets every text of a value; lists and maps get one entry.
func (f *filler) fill(v reflect.Value, at string, depth int) {
	if depth > 14 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.canary(at))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), at, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), at, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, at, depth+1)
		f.fill(item, at, depth+1)
		v.SetMapIndex(key, item)
	case reflect.Struct:
		if ownJSON(v.Type()) || v.Type() == reflect.TypeFor[metav1.TypeMeta]() {
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				f.fill(v.Field(i), v.Type().PkgPath()+"."+v.Type().Name()+"."+field.Name, depth+1)
			}
		}
	}
}

// isRead tells whether a field is in the table, or in a type that is read whole.
func isRead(path string) bool {
	i := strings.LastIndexByte(path, '.')
	fields := readFields[path[:i]]
	return slices.Contains(fields, path[i+1:]) || slices.Contains(fields, "*") ||
		strings.Contains(path, "networking/v1.") || strings.HasSuffix(path[:i], "LabelSelectorRequirement") // below a type that is read whole
}
