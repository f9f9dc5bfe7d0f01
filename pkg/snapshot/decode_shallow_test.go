package snapshot

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShallow reads envelopes as encoding/json does, or leaves them to it.
func TestShallow(t *testing.T) {
	t.Parallel()
	for text, left := range map[string]bool{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"b","labels":{"name":"c"}},"spec":{"kind":"d"}}`: false,
		" {\n\t\"kind\" : \"List\" , \"items\" : [ {\"a\":[1,{}]} , 2,\"x]\\\"\" ,null ] , \"metadata\":{ } }\r\n":           false,
		`{"kind":"List","items":[],"metadata":{"continue":"x"}}`:                                                             false,
		`{"kind":"List","items":null,"metadata":null,"apiVersion":null}`:                                                     false,
		`{"kind":"a\"b\\","metadata":{"name":"\u00fc\\","namespace":"ü"}}`:                                                   false,
		`{"spec":"} \\\" {","n":-1.5e3,"t":true,"kind":"Pod"}`:                                                               false,
		`{}`:                            false,
		`{"kind":1}`:                    true,
		`{"kind":"a","kind":"b"}`:       true,
		`{"Kind":"a"}`:                  true,
		`{"metadata":{"Name":"a"}}`:     true,
		`{"metadata":[]}`:               true,
		`{"items":{}}`:                  true,
		`{"\u006bind":"a"}`:             true,
		`[{"kind":"a"}]`:                true,
		`"kind"`:                        true,
		`{"metadata":{"name":{"a":1}}}`: true,
	} {
		got, ok := shallow([]byte(text))
		if ok == left {
			t.Errorf("%s: read %t, want %t", text, ok, !left)
		}
		var want envelope
		if err := json.Unmarshal([]byte(text), &want); ok && (err != nil || !cmp.Equal(got, want)) {
			t.Errorf("%s: %v\n%s", text, err, cmp.Diff(want, got))
		}
	}
}

// FuzzShallow never reads another envelope than encoding/json.
func FuzzShallow(f *testing.F) {
	f.Add([]byte(`{"apiVersion":"v1","kind":"List","items":[{"a":"\\\""},[1,2]],"metadata":{"name":"ü"}}`))
	f.Add([]byte(`{"apiVersion":"`)) // cut
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, ok := shallow(doc)
		if !ok || !json.Valid(doc) {
			return
		}
		var want envelope
		if err := json.Unmarshal(doc, &want); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v\n%s", doc, err, cmp.Diff(want, got))
		}
	})
}
