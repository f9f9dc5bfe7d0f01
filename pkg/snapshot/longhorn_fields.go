package snapshot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// fields reads an object without a schema. Longhorn's versions, and the support
// bundles made of them, write the same value as a number, as text, or as "null".
// The first value that has the wrong form is kept as the error.
type fields struct {
	m    map[string]any
	path string
	err  *error
	// heard is told every path that is read, so that a test can hold them against
	// Longhorn's schemas; nil otherwise.
	heard func(path string)
	// note, when set, takes a copy of every value that is read: what a capture keeps.
	note map[string]any
}

// at returns the value at a dotted path; nil when it is absent or null.
func (f fields) at(path string) any {
	if f.heard != nil {
		f.heard(f.path + path)
	}
	m, note, rest := f.m, f.note, path
	for {
		key, deeper, nested := strings.Cut(rest, ".")
		if !nested {
			noted(note, key, m[key])
			return m[key]
		}
		switch next := m[key].(type) {
		case map[string]any:
			if note != nil {
				note = groupIn(note, key)
			}
			m, rest = next, deeper
		case nil:
			return nil
		case string:
			if !empty(next) {
				f.fail(path, next)
			}
			return nil
		default:
			f.fail(path, next)
			return nil
		}
	}
}

// noted writes a value down that was read; of objects and lists only what is read in
// them follows.
func noted(note map[string]any, key string, v any) {
	switch x := v.(type) {
	case nil:
	case map[string]any:
		if note != nil {
			groupIn(note, key)
		}
	case []any:
		if _, known := note[key]; note != nil && !known {
			list := make([]any, len(x))
			for i, item := range x {
				list[i] = item
				if _, object := item.(map[string]any); object {
					list[i] = map[string]any{}
				}
			}
			note[key] = list
		}
	default:
		if note != nil {
			note[key] = v
		}
	}
}

// noteAt is where what is read at a dotted path is written down.
func (f fields) noteAt(path string) any {
	var at any = f.note
	for key := range strings.SplitSeq(path, ".") {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	return at
}

// empty tells whether a text stands for no value.
func empty(s string) bool { return s == "" || s == "null" || s == "<nil>" }

func (f fields) fail(path string, v any) {
	if *f.err == nil {
		*f.err = fmt.Errorf("%s%s has an unexpected value of type %T", f.path, path, v)
	}
}

// text is a string; the first of the paths that has one counts, because fields
// were renamed between versions.
func (f fields) text(paths ...string) string {
	for _, path := range paths {
		switch v := f.at(path).(type) {
		case nil:
		case string:
			if !empty(v) {
				return v
			}
		case int64:
			return strconv.FormatInt(v, 10)
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case bool:
			return strconv.FormatBool(v)
		default:
			f.fail(path, v)
		}
	}
	return ""
}

// number is an integer, written as a number or as text.
func (f fields) number(paths ...string) int64 {
	for _, path := range paths {
		switch v := f.at(path).(type) {
		case nil:
		case int64:
			return v
		case float64:
			if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
				f.fail(path, v)
				return 0
			}
			return int64(v)
		case string:
			if empty(v) {
				continue
			}
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				f.fail(path, v)
			}
			return n
		default:
			f.fail(path, v)
		}
	}
	return 0
}

// flag is a truth value, written as one or as text.
func (f fields) flag(paths ...string) bool {
	for _, path := range paths {
		switch v := f.at(path).(type) {
		case nil:
		case bool:
			return v
		case string:
			if empty(v) {
				continue
			}
			b, err := strconv.ParseBool(v)
			if err != nil {
				f.fail(path, v)
			}
			return b
		default:
			f.fail(path, v)
		}
	}
	return false
}

// group is an object inside; an absent one has no fields.
func (f fields) group(paths ...string) fields {
	for _, path := range paths {
		switch v := f.at(path).(type) {
		case nil:
		case map[string]any:
			sub := f.inside(v, path+".")
			sub.note, _ = f.noteAt(path).(map[string]any)
			return sub
		case string:
			if !empty(v) {
				f.fail(path, v)
			}
		default:
			f.fail(path, v)
		}
	}
	return f.none()
}

// inside are the fields of an object whose path continues that of f.
func (f fields) inside(m map[string]any, path string) fields {
	return fields{m: m, path: f.path + path, err: f.err, heard: f.heard}
}

// none is an object without fields.
func (f fields) none() fields { return fields{path: f.path, err: f.err} }
