package corpus

import (
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The heap of what reads the corpus may grow: it is small, and thousands of snapshots come and go.
var _ = debug.SetGCPercent(400)

// held are the snapshots that were read once, by directory.
var held sync.Map

// Shared is snapshot.Load of a directory that nobody writes to. It reads it once, for everybody: reading YAML
// and the recordings of nodes is most of what a test of the whole corpus costs. Nobody changes what it gives.
func Shared(dir string) (*snapshot.Snapshot, error) {
	read, _ := held.LoadOrStore(dir, sync.OnceValues(func() (*snapshot.Snapshot, error) { return snapshot.Load(dir) }))
	return read.(func() (*snapshot.Snapshot, error))()
}

// Load is a copy of what Shared gives, to be changed.
func Load(dir string) (*snapshot.Snapshot, error) {
	s, err := Shared(dir)
	if err != nil {
		return nil, err
	}
	return deep(reflect.ValueOf(s), nil).Interface().(*snapshot.Snapshot), nil
}

// deep is a value with pointers, lists and maps of its own, in which some values may be exchanged. What a
// type hides from others it shares: nobody outside of it can change that.
func deep(v reflect.Value, exchange func(reflect.Value) (reflect.Value, bool)) reflect.Value {
	whole := func(t reflect.Type) bool { return t.Kind() <= reflect.Float64 || exchange == nil && plain(t) }
	if whole(v.Type()) || v.IsZero() {
		return v
	}
	if exchange != nil {
		if other, ok := exchange(v); ok {
			return other
		}
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(deep(v.Elem(), exchange))
	case reflect.Interface:
		out.Set(deep(v.Elem(), exchange))
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		if whole(v.Type().Elem()) {
			reflect.Copy(out, v)
			return out
		}
		for i := range v.Len() {
			out.Index(i).Set(deep(v.Index(i), exchange))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			out.SetMapIndex(key, deep(value, exchange))
		}
	case reflect.Struct:
		out.Set(v)
		for _, i := range seen(v.Type()) {
			out.Field(i).Set(deep(v.Field(i), exchange))
		}
	default:
		out.Set(v)
	}
	return out
}

// plains are the types that were asked about, and whether they are plain.
var plains sync.Map

// plain tells whether all that a value of a type shows of itself is copied with it.
func plain(t reflect.Type) bool {
	if is, ok := plains.Load(t); ok {
		return is.(bool)
	}
	is := true
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		is = false
	case reflect.Struct:
		for _, i := range seen(t) {
			is = is && plain(t.Field(i).Type)
		}
	}
	plains.Store(t, is)
	return is
}

// fields are the fields that structs show, by type.
var fields sync.Map

func seen(t reflect.Type) []int {
	if known, ok := fields.Load(t); ok {
		return known.([]int)
	}
	var out []int
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			out = append(out, i)
		}
	}
	fields.Store(t, out)
	return out
}
