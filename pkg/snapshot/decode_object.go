package snapshot

import (
	"bytes"
	"encoding"
	"encoding/json"
	"hash/maphash"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// quickReader fills Kubernetes' types from valid JSON in one pass, for one file. Nothing writes to
// what was read, so that words, lists and maps of one text are kept once: the pods of a DaemonSet have
// the same containers, and most words of 100,000 events are the same few. What it does not
// take (a value of another type, a key twice) is left to sigs.k8s.io/json, with its errors.
type quickReader struct {
	words [4096]string
	lists [1024]sharedList
}

// sharedList is a list or map that was seen twice; one that was seen once has left its hash.
type sharedList struct {
	hash  uint64
	of    *shape
	raw   string
	value reflect.Value
}

var seed = maphash.MakeSeed()

// shape says how a type is read.
type shape struct {
	typ    reflect.Type                                          // not embedded: its method Method would keep every exported method of the program
	read   func(*quickReader, *shape, *text, reflect.Value) bool // nil: not by us
	of     *shape                                                // of a pointer, list or map
	fields map[string]member                                     // of a struct
}

// member is a field of a struct; no shape: nobody reads it.
type member struct {
	*shape
	index []int
	bit   uint64
}

// shapes are those of all types that were met.
var shapes = struct {
	sync.Mutex
	of map[reflect.Type]*shape
}{of: map[reflect.Type]*shape{}}

// into reads an object; false: by somebody else.
func (d *quickReader) into(raw []byte, o any) bool {
	v := reflect.ValueOf(o).Elem()
	shapes.Lock()
	s := shapeOf(v.Type())
	shapes.Unlock()
	t := text{raw, 0}
	t.next()
	return d.value(s, &t, v)
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func shapeOf(t reflect.Type) *shape {
	s, ok := shapes.of[t]
	if ok {
		return s
	}
	s = &shape{typ: t}
	shapes.of[t] = s
	own := reflect.PointerTo(t)
	switch {
	case own.Implements(unmarshaler):
		s.read = (*quickReader).own
	case own.Implements(textUnmarshaler):
	case t.Kind() == reflect.String:
		s.read = (*quickReader).word
	case t.Kind() == reflect.Bool, t.Kind() == reflect.Int, t.Kind() == reflect.Int32, t.Kind() == reflect.Int64:
		s.read = (*quickReader).literal
	case t.Kind() == reflect.Pointer:
		s.of, s.read = shapeOf(t.Elem()), (*quickReader).pointer
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		s.of, s.read = shapeOf(t.Elem()), (*quickReader).shared
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		s.of, s.read = shapeOf(t.Elem()), (*quickReader).shared
	case t.Kind() == reflect.Struct:
		s.fields, s.read = map[string]member{}, (*quickReader).object
		if !s.take(t, nil) {
			s.read = nil
		}
	}
	return s
}

// take finds the fields of a struct, and of those that it has in itself. False: two have
// one name.
func (s *shape) take(t reflect.Type, at []int) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		index := append(at[:len(at):len(at)], i)
		switch {
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || !s.take(f.Type, index) {
				return false
			}
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		if _, twice := s.fields[name]; twice || strings.Contains(options, "string") || len(s.fields) == 64 {
			return false
		}
		s.fields[name] = member{shapeOf(f.Type), index, 1 << len(s.fields)}
	}
	return true
}

func (d *quickReader) value(s *shape, t *text, v reflect.Value) bool {
	return s.read != nil && s.read(d, s, t, v)
}

// own is read by a method of its type.
func (d *quickReader) own(_ *shape, t *text, v reflect.Value) bool {
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(t.value()) == nil
}

func (d *quickReader) word(_ *shape, t *text, v reflect.Value) bool {
	raw := t.value()
	if isNull(raw) {
		return true
	}
	s, ok := d.string(raw)
	v.SetString(s)
	return ok
}

// string is a text, the same for the same.
func (d *quickReader) string(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	plain := raw[1 : len(raw)-1]
	slot := &d.words[maphash.Bytes(seed, plain)%uint64(len(d.words))]
	if *slot == string(plain) {
		return *slot, true
	}
	if bytes.IndexByte(plain, '\\') >= 0 || !utf8.Valid(plain) {
		var s string
		return s, json.Unmarshal(raw, &s) == nil
	}
	*slot = string(plain)
	return *slot, true
}

func (d *quickReader) literal(_ *shape, t *text, v reflect.Value) bool {
	raw := string(t.value())
	switch {
	case raw == "null":
	case v.Kind() != reflect.Bool:
		n, err := strconv.ParseInt(raw, 10, v.Type().Bits())
		v.SetInt(n)
		return err == nil
	case raw == "true":
		v.SetBool(true)
	default:
		return raw == "false"
	}
	return true
}

func (d *quickReader) pointer(s *shape, t *text, v reflect.Value) bool {
	if t.null() {
		return true
	}
	v.Set(reflect.New(s.typ.Elem()))
	return d.value(s.of, t, v.Elem())
}

// shared reads a list or a map, or takes one of the same text.
func (d *quickReader) shared(s *shape, t *text, v reflect.Value) bool {
	if t.null() {
		return true
	}
	raw := t.value()
	hash := maphash.Bytes(seed, raw)
	slot := &d.lists[hash%uint64(len(d.lists))]
	if slot.of == s && slot.raw == string(raw) {
		v.Set(slot.value)
		return true
	}
	read := d.list
	if s.typ.Kind() == reflect.Map {
		read = d.dictionary
	}
	if !read(s, raw, v) {
		return false
	}
	slot = &d.lists[hash%uint64(len(d.lists))]
	if slot.hash == hash {
		*slot = sharedList{hash, s, string(raw), reflect.ValueOf(v.Interface())}
	} else {
		*slot = sharedList{hash: hash}
	}
	return true
}

func (d *quickReader) list(s *shape, raw []byte, v reflect.Value) bool {
	all, ok := elements(raw)
	if !ok {
		return false
	}
	v.Set(reflect.MakeSlice(s.typ, len(all), len(all)))
	for i, one := range all {
		if t := (text{one, 0}); !d.value(s.of, &t, v.Index(i)) {
			return false
		}
	}
	return true
}

func (d *quickReader) dictionary(s *shape, raw []byte, v reflect.Value) bool {
	m := reflect.MakeMap(s.typ)
	v.Set(m)
	t := text{raw, 0}
	return t.members(func(key []byte) bool {
		k, ok := d.string(key)
		one := reflect.New(s.typ.Elem()).Elem()
		if !ok || !d.value(s.of, &t, one) {
			return false
		}
		m.SetMapIndex(reflect.ValueOf(k).Convert(s.typ.Key()), one)
		return true
	})
}

func (d *quickReader) object(s *shape, t *text, v reflect.Value) bool {
	if t.null() {
		return true
	}
	seen := uint64(0)
	return t.members(func(key []byte) bool {
		f, ok := s.fields[string(bytes.Trim(key, `"`))]
		if !ok {
			t.value()
			return bytes.IndexByte(key, '\\') < 0
		}
		if seen&f.bit != 0 {
			return false
		}
		seen |= f.bit
		return d.value(f.shape, t, v.FieldByIndex(f.index))
	})
}
