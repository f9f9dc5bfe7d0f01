package snapshot

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// otherFields are the fields that rules read of kinds without a type of ours.
var otherFields = []string{
	"status.available", "spec.ownerNodeID",
	"status.ceph.health", "status.ceph.details", "status.ceph.lastChecked", "status.ceph.fsid",
	"spec.driver", "spec.fenceState", "spec.cidrs", "status.result",
	"pools", "volumeGroups",
}

// trimmedRaw is an object of Longhorn with the fields that its decoder reads: the
// decoder itself writes them down.
func (k *kind) trimmedRaw(u *unstructured.Unstructured) (map[string]any, error) {
	out := rawHead(u)
	if err := k.notes(u, out); err != nil {
		return nil, err
	}
	hide(out, "")
	return out, nil
}

// trimmedOther is an object of a kind without a type of ours.
func trimmedOther(u *unstructured.Unstructured) map[string]any {
	return copyFields(u, rawHead(u), otherFields)
}

// rawHead is what an object is and its metadata.
func rawHead(u *unstructured.Unstructured) map[string]any {
	out := map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind()}
	var meta metav1.ObjectMeta
	found, _ := u.Object["metadata"].(map[string]any)
	if runtime.DefaultUnstructuredConverter.FromUnstructured(found, &meta) != nil {
		return out
	}
	o := trimmed(&metav1.PartialObjectMetadata{ObjectMeta: meta}).(*metav1.PartialObjectMetadata)
	if m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o.ObjectMeta); err == nil {
		if m["creationTimestamp"] == nil {
			delete(m, "creationTimestamp")
		}
		out["metadata"] = m
	}
	return out
}

// copyFields copies the values at dotted paths.
func copyFields(u *unstructured.Unstructured, out map[string]any, paths []string) map[string]any {
	for _, path := range paths {
		keys := strings.Split(path, ".")
		if v, found, err := unstructured.NestedFieldCopy(u.Object, keys...); found && err == nil {
			at := out
			for _, k := range keys[:len(keys)-1] {
				at = groupIn(at, k)
			}
			at[keys[len(keys)-1]] = v
		}
	}
	hide(out, "")
	return out
}

// groupIn is the object at a key, made when it is not there.
func groupIn(m map[string]any, key string) map[string]any {
	if sub, ok := m[key].(map[string]any); ok {
		return sub
	}
	sub := map[string]any{}
	m[key] = sub
	return sub
}

// hide masks every text of a value in place and returns it.
func hide(v any, key string) any {
	switch x := v.(type) {
	case string:
		return mask.Value(key, x)
	case map[string]any:
		for k, item := range x {
			x[k] = hide(item, k)
		}
	case []any:
		for i := range x {
			x[i] = hide(x[i], key)
		}
	}
	return v
}
