package snapshot

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// microTimes are the fields of Lease and Event that Kubernetes reads only with
// exactly six digits of a second (metav1.MicroTime). People write fewer.
var microTimes = map[string]bool{"renewTime": true, "acquireTime": true, "eventTime": true, "lastObservedTime": true}

// withMicros rewrites such times as Kubernetes wants them; ok is false when
// there is nothing to rewrite.
func withMicros(raw []byte) (fixed []byte, ok bool) {
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, false
	}
	for _, at := range [][]string{nil, {"spec"}, {"series"}} {
		group := child(object, at...)
		for key := range microTimes {
			text, _ := group[key].(string)
			t, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				continue
			}
			if micro := t.UTC().Format(metav1.RFC3339Micro); micro != text {
				group[key], ok = micro, true
			}
		}
	}
	if !ok {
		return nil, false
	}
	fixed, err := json.Marshal(object)
	return fixed, err == nil
}

// child is the object at a path of keys, or nil.
func child(m map[string]any, path ...string) map[string]any {
	for _, key := range path {
		m, _ = m[key].(map[string]any)
	}
	return m
}
