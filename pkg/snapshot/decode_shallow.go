package snapshot

import (
	"bytes"
	"encoding/json"
	"slices"
)

// shallow reads the envelope of a document that is known to be valid JSON, and finds the
// items of a list without copying them: many times sooner than reading all that lies
// between. Not ok: the document has something that only encoding/json reads rightly (a key
// that stands twice or in other letters, a value of another type).
func shallow(doc []byte) (e envelope, ok bool) {
	ok = members(doc, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			return stringInto(&e.APIVersion, value)
		case "kind":
			return stringInto(&e.Kind, value)
		case "metadata":
			return isNull(value) || members(value, func(key, value []byte) bool {
				switch string(key) {
				case "name":
					return stringInto(&e.Metadata.Name, value)
				case "namespace":
					return stringInto(&e.Metadata.Namespace, value)
				case "continue":
					return stringInto(&e.Metadata.Continue, value)
				}
				return !inOtherLetters(key, "name", "namespace", "continue")
			})
		case "items":
			if isNull(value) {
				return true
			}
			items, ok := elements(value)
			e.Items = &items
			return ok
		}
		return !inOtherLetters(key, "apiVersion", "kind", "metadata", "items")
	})
	return e, ok
}

func isNull(value []byte) bool { return string(value) == "null" }

// inOtherLetters tells whether encoding/json would take a key for one of these.
func inOtherLetters(key []byte, known ...string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return bytes.EqualFold(key, []byte(k)) })
}

func stringInto(to *string, value []byte) bool {
	if isNull(value) {
		return true
	}
	simple := len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' && !slices.ContainsFunc(value, func(c byte) bool { return c == '\\' || c >= 0x80 })
	if simple {
		*to = string(value[1 : len(value)-1])
	}
	return simple || json.Unmarshal(value, to) == nil
}

// members calls f for each member of an object, as long as f is content. Not ok: f was
// not, a key stands twice or is written with escapes, or there is no object.
func members(object []byte, f func(key, value []byte) bool) bool {
	t := text{object, 0}
	seen := make([][]byte, 0, 16)
	return t.members(func(key []byte) bool {
		key = bytes.Trim(key, `"`)
		if slices.ContainsFunc(seen, func(k []byte) bool { return bytes.Equal(k, key) }) || bytes.Contains(key, []byte(`\`)) {
			return false
		}
		seen = append(seen, key)
		value := t.value()
		return len(value) > 0 && f(key, value)
	})
}

// elements are those of an array.
func elements(array []byte) ([]json.RawMessage, bool) {
	t := text{array, 0}
	if t.next() != '[' {
		return nil, false
	}
	t.at++
	out := []json.RawMessage{}
	for t.next() != ']' {
		value := t.value()
		if len(value) == 0 {
			return nil, false
		}
		if len(out) == 0 {
			out = slices.Grow(out, 1+(len(array)-t.at)/max(len(value), 64)) // they are alike
		}
		out = append(out, value)
		if t.next() == ',' {
			t.at++
		}
	}
	return out, true
}

// text is valid JSON and a place in it.
type text struct {
	all []byte
	at  int
}

// next skips white space and returns what stands there; 0 is the end.
func (t *text) next() byte {
	for ; t.at < len(t.all); t.at++ {
		switch c := t.all[t.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// value skips the value that begins here and returns it.
func (t *text) value() []byte {
	begin, depth := t.at, 0
	for t.at < len(t.all) {
		switch t.all[t.at] {
		case '"':
			t.string()
			if depth == 0 {
				return t.all[begin:t.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // of what holds a number or a word
				return t.all[begin:t.at]
			}
			if depth--; depth == 0 {
				t.at++
				return t.all[begin:t.at]
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return t.all[begin:t.at]
			}
		}
		t.at++
	}
	return t.all[begin:t.at]
}

// string skips a string: up to a quote before which no odd number of backslashes stands.
func (t *text) string() {
	for t.at++; t.at < len(t.all); t.at++ {
		end := bytes.IndexByte(t.all[t.at:], '"')
		if end < 0 {
			t.at = len(t.all)
			return
		}
		run := t.all[t.at : t.at+end]
		escapes := len(run) - len(bytes.TrimRight(run, `\`))
		t.at += end
		if escapes%2 == 0 {
			t.at++
			return
		}
	}
}

// null skips a null.
func (t *text) null() bool {
	if !bytes.HasPrefix(t.all[t.at:], []byte("null")) {
		return false
	}
	t.at += len("null")
	return true
}

// members calls f for each key of an object, in front of its value, which f skips.
func (t *text) members(f func(key []byte) bool) bool {
	if t.next() != '{' {
		return false
	}
	t.at++
	for t.next() == '"' {
		key := t.value()
		if t.next() != ':' {
			return false
		}
		t.at++
		t.next()
		if !f(key) {
			return false
		}
		if t.next() == ',' {
			t.at++
		}
	}
	if t.next() != '}' {
		return false
	}
	t.at++
	return true
}
