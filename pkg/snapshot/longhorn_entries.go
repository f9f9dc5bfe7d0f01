package snapshot

import (
	"fmt"
	"sort"
)

// value is the value of a key alone, whatever the key: it is read by the empty path.
func (f fields) value(key string) fields {
	return f.inside(map[string]any{"": f.m[key]}, key)
}

// entries are the objects of a map by key, sorted.
func (f fields) entries(paths ...string) []entry {
	group := f.group(paths...)
	var all []entry
	for _, key := range group.keys() {
		switch v := group.m[key].(type) {
		case map[string]any:
			sub := group.inside(v, key+".")
			if group.note != nil {
				sub.note = groupIn(group.note, key)
			}
			all = append(all, entry{key, sub})
		case nil:
			noted(group.note, key, "null")
			all = append(all, entry{key, group.inside(nil, key+".")})
		default:
			group.fail(key, v)
		}
	}
	return all
}

// entry is one object in a map.
type entry struct {
	key string
	fields
}

func (f fields) keys() []string {
	keys := make([]string, 0, len(f.m))
	for key := range f.m {
		noted(f.note, key, f.m[key])
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// items are the objects of a list.
func (f fields) items(path string) []fields {
	switch v := f.at(path).(type) {
	case nil:
	case string:
		if !empty(v) {
			f.fail(path, v)
		}
	case []any:
		var all []fields
		for i, item := range v {
			m, ok := item.(map[string]any)
			if !ok {
				f.fail(path, item)
				continue
			}
			sub := f.inside(m, fmt.Sprintf("%s[%d].", path, i))
			if notes, _ := f.noteAt(path).([]any); i < len(notes) {
				sub.note, _ = notes[i].(map[string]any)
			}
			all = append(all, sub)
		}
		return all
	default:
		f.fail(path, v)
	}
	return nil
}

// texts is a map of strings, nil when it is empty.
func (f fields) texts(path string) map[string]string {
	group := f.group(path)
	if len(group.m) == 0 {
		return nil
	}
	all := make(map[string]string, len(group.m))
	for _, key := range group.keys() {
		all[key] = group.value(key).text("")
	}
	return all
}

// list is a list of texts.
func (f fields) list(path string) []string {
	var out []string
	switch v := f.at(path).(type) {
	case nil:
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				out = append(out, text)
				continue
			}
			f.fail(path, item)
		}
	default:
		f.fail(path, v)
	}
	return out
}
