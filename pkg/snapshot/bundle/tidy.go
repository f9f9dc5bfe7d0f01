package bundle

import (
	"bytes"
	"encoding/json"
	"strings"
)

// tidy undoes what the tool did to a document. support-bundle-kit replaces in the text
// of the answer every "" by "null" and every null behind a key (toObjCommon in
// pkg/manager/collectors/common.go), also where a text ends with a quote.
func (b *importer) tidy(name string, doc []byte) []byte {
	if b.layout != supportBundle || !bytes.Contains(doc, []byte(`null"`)) {
		return doc
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return doc
	}
	out, err := json.Marshal(unnull(v, strings.Contains(name, "/longhorn.io/") || strings.Contains(name, "yamls/longhorn/")))
	if err != nil {
		return doc
	}
	return out
}

// maps are the keys whose values are texts chosen by people: an empty one stands for
// something, and its key must stay.
var maps = map[string]bool{
	"labels": true, "annotations": true, "matchLabels": true, "nodeSelector": true, "selector": true, "parameters": true,
	"volumeAttributes": true, "attributes": true, "data": true, "options": true,
}

// unnull makes empty texts of "null". In objects of Longhorn, where a map, a list and a
// text look alike then, the key goes: empty and absent mean the same there.
func unnull(v any, drop bool) any {
	switch x := v.(type) {
	case string:
		return text(x)
	case []any:
		for i := range x {
			x[i] = unnull(x[i], drop)
		}
	case map[string]any:
		for k, item := range x {
			chosen, isMap := item.(map[string]any)
			switch {
			case item == "null" && (drop || noText[k] || maps[k] || timed(k)):
				delete(x, k)
			case isMap && maps[k]:
				for name, value := range chosen {
					chosen[name] = unnull(value, false)
				}
			default:
				x[k] = unnull(item, drop)
			}
		}
	}
	return v
}

func text(s string) string {
	if s == "null" {
		return ""
	}
	if rest, ok := strings.CutSuffix(s, `"null`); ok {
		return rest + `"`
	}
	return s
}

// timed tells whether a key holds a time, of which there is no empty one.
func timed(key string) bool {
	return strings.HasSuffix(key, "Time") || strings.HasSuffix(key, "Timestamp") || strings.HasSuffix(key, "At")
}

// noText are keys of Kubernetes that can be null and hold no text.
var noText = map[string]bool{
	"rules": true, "subjects": true, "endpoints": true, "ports": true, "drivers": true, "addresses": true, "notReadyAddresses": true,
	"subsets": true, "items": true, "conditions": true, "status": true, "spec": true, "resources": true, "template": true,
	"containers": true, "volumes": true, "env": true, "securityContext": true, "managedFields": true, "ownerReferences": true,
	"finalizers": true, "series": true, "related": true, "emptyDir": true, "podCIDRs": true, "taints": true, "images": true,
	"disruptedPods": true, "capacity": true, "allocatable": true, "nodeTopology": true, "maximumVolumeSize": true,
}
