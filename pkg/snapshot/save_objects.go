package snapshot

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// encode makes an object's JSON with what rules read of it; nil when the object may
// not be saved at all.
func (k *kind) encode(o metav1.Object) ([]byte, error) {
	switch v := o.(type) {
	case *Event:
		if v.housekeeping() {
			return nil, nil
		}
		return json.Marshal(v.saved())
	case *unstructured.Unstructured:
		return json.Marshal(trimmedOther(v))
	}
	if k.raw != nil {
		raw := k.raw(o)
		if raw == nil {
			return nil, fmt.Errorf("%s %s/%s was not read from an object and cannot be saved", k.Kind, o.GetNamespace(), o.GetName())
		}
		if k.Kind == "Setting" && !readSettings[o.GetName()] {
			return nil, nil
		}
		out, err := k.trimmedRaw(raw)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
	if !keep(o) {
		return nil, nil
	}
	return lean(trimmed(k.copied(o)))
}

// listSize is when a list is continued in a further file, far below the limit
// that the reader sets to one file.
const listSize = 64 << 20

// saveObjects writes one List per resource, one object a line, so that two
// snapshots can be compared line by line.
func saveObjects(c *Cluster, put func(name string, data []byte) error) error {
	for _, k := range allKinds {
		if k.Group == eventsGroup {
			continue // its events are in the list of core/v1
		}
		list := listWriter{base: clusterDir + "/" + k.fileName(), put: put}
		for _, o := range k.objects(c) {
			raw, err := k.encode(o)
			if err != nil {
				return fmt.Errorf("encode %s %s/%s: %w", k.Kind, o.GetNamespace(), o.GetName(), err)
			}
			if raw == nil {
				continue
			}
			if err := list.add(raw); err != nil {
				return err
			}
		}
		if err := list.flush(); err != nil {
			return err
		}
	}
	return nil
}

// fileName is the resource as kubectl names it: volumes.longhorn.io.
func (k *kind) fileName() string {
	if k == othersKind {
		return "others"
	}
	return strings.TrimSuffix(k.resource+"."+k.Group, ".")
}

// listWriter collects the objects of one resource.
type listWriter struct {
	base   string
	put    func(name string, data []byte) error
	buffer []byte
	files  int
}

func (w *listWriter) add(raw []byte) error {
	if len(w.buffer) > 0 && len(w.buffer)+len(raw) > listSize {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.buffer) == 0 {
		w.buffer = append(w.buffer, `{"apiVersion":"v1","kind":"List","items":[`...)
	} else {
		w.buffer = append(w.buffer, ',')
	}
	w.buffer = append(append(w.buffer, '\n'), raw...)
	return nil
}

func (w *listWriter) flush() error {
	if len(w.buffer) == 0 {
		return nil
	}
	w.files++
	name := w.base + ".json"
	if w.files > 1 {
		name = fmt.Sprintf("%s-%d.json", w.base, w.files)
	}
	data := append(w.buffer, "\n]}\n"...)
	w.buffer = nil
	return w.put(name, data)
}
