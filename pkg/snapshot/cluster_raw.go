package snapshot

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// AddRaw takes one object as the API server wrote it, which in a list names
// neither its version nor its kind. It tells whether rules know the kind; an
// error means that the object is malformed. Call Sort when all are added.
func (c *Cluster) AddRaw(gvk schema.GroupVersionKind, raw []byte) (known bool, err error) {
	k := kindOf(gvk)
	if k == nil {
		return false, nil
	}
	if k == othersKind || k.fromUnstructured != nil {
		// These keep the object whole, so it must say itself what it is.
		if raw, err = withKind(gvk, raw); err != nil {
			return true, fmt.Errorf("decode %s: %w", gvk.Kind, err)
		}
	}
	o, err := decodeItem(&item{gvk: gvk, name: nameIn(raw), raw: raw})
	if err != nil {
		return true, fmt.Errorf("decode %s %s: %w", gvk.Kind, nameIn(raw), err)
	}
	if o != nil {
		k.add(c, o)
	}
	return true, nil
}

// nameIn is the name that an object gives itself, or empty.
func nameIn(raw []byte) string {
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	return e.Metadata.Name
}

// withKind writes version and kind into an object that lacks them.
func withKind(gvk schema.GroupVersionKind, raw []byte) ([]byte, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	if e.Kind != "" && e.APIVersion != "" {
		return raw, nil
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("null is no object")
	}
	m["apiVersion"], m["kind"] = gvk.ToAPIVersionAndKind()
	return json.Marshal(m)
}

// Objects is how many objects of the cluster the snapshot holds.
func (s *Snapshot) Objects() int {
	n := 0
	for _, k := range allKinds {
		if k.Group != eventsGroup {
			n += len(k.objects(&s.Cluster))
		}
	}
	return n
}
