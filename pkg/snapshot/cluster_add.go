package snapshot

import (
	"fmt"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Add takes one object without a type into the list of its kind: what the API
// server answers for Longhorn's and other drivers' resources. It tells whether
// rules know the kind; an error means that the object is malformed. Call Sort
// when all are added.
func (c *Cluster) Add(u *unstructured.Unstructured) (known bool, err error) {
	k := kindOf(u.GroupVersionKind())
	if k == nil {
		return false, nil
	}
	o, err := k.from(u)
	if err != nil {
		return true, fmt.Errorf("decode %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	if keep(o) {
		k.add(c, o)
	}
	return true, nil
}

// from decodes an object that is already taken apart.
func (k *kind) from(u *unstructured.Unstructured) (metav1.Object, error) {
	switch {
	case k == othersKind:
		return u, checkMetadata(u)
	case k.fromUnstructured != nil:
		return k.fromUnstructured(u)
	}
	raw, err := u.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return k.decode(raw)
}

// Sort puts every list into the order that Cluster promises.
func (c *Cluster) Sort() {
	for _, k := range allKinds {
		if k.Group == eventsGroup {
			continue
		}
		objects := k.objects(c)
		if len(objects) < 2 {
			continue
		}
		sort.SliceStable(objects, func(i, j int) bool {
			if a, b := objects[i].GetNamespace(), objects[j].GetNamespace(); a != b {
				return a < b
			}
			return objects[i].GetName() < objects[j].GetName()
		})
		k.replace(c, objects)
	}
}
