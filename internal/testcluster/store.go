package testcluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// object is one object as the server keeps it.
type object struct {
	group, version, plural string
	namespace, name        string
	fields                 map[string]any
	raw                    json.RawMessage
}

// collection is every object of one resource, in the order of etcd's keys.
type collection []*object

// stores are the objects that were read, by directory: nobody writes to them.
var stores sync.Map

// stored are the objects of a snapshot, which is read once.
func stored(dir string) (map[string]collection, error) {
	read, _ := stores.LoadOrStore(dir, sync.OnceValues(func() (map[string]collection, error) { return readObjects(filepath.Join(dir, "cluster")) }))
	return read.(func() (map[string]collection, error))()
}

// readObjects reads the objects of a directory, lists taken apart.
func readObjects(dir string) (map[string]collection, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	store := map[string]collection{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, doc := range strings.Split("\n"+string(data), "\n---") {
			var m map[string]any
			if err := yaml.Unmarshal([]byte(doc), &m); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if err := addAll(store, m); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	for _, list := range store {
		sort.SliceStable(list, func(i, j int) bool {
			return list[i].namespace+"/"+list[i].name < list[j].namespace+"/"+list[j].name
		})
	}
	return store, nil
}

func addAll(store map[string]collection, m map[string]any) error {
	if m == nil {
		return nil
	}
	items, isList := m["items"].([]any)
	if !isList {
		return add(store, m)
	}
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			if err := addAll(store, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func add(store map[string]collection, m map[string]any) error {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	if kind == "" {
		return nil
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	if group == "events.k8s.io" {
		m, group, version = coreEvent(m), "", "v1"
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	o := &object{group: group, version: version, plural: plural(kind), fields: m, raw: raw}
	o.name, o.namespace = o.text("metadata.name"), o.text("metadata.namespace")
	key := group + "/" + o.plural
	for _, old := range store[key] {
		if old.namespace == o.namespace && old.name == o.name {
			return nil // the first one counts, as when a snapshot is loaded
		}
	}
	store[key] = append(store[key], o)
	return nil
}

// coreEvent is an event of events.k8s.io as the core group serves it.
func coreEvent(in map[string]any) map[string]any {
	out := map[string]any{"apiVersion": "v1", "kind": "Event"}
	moved := map[string]string{
		"regarding": "involvedObject", "note": "message", "deprecatedSource": "source", "deprecatedCount": "count",
		"deprecatedFirstTimestamp": "firstTimestamp", "deprecatedLastTimestamp": "lastTimestamp",
	}
	for k, v := range in {
		switch {
		case k == "apiVersion" || k == "kind":
		case moved[k] != "":
			out[moved[k]] = v
		case k == "reportingController":
			out["reportingComponent"] = v
		default:
			out[k] = v
		}
	}
	return out
}

// plural is the resource's name of a kind.
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case name == "endpoints":
		return name
	case strings.HasSuffix(name, "s"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}

// text is a field by its path, or empty.
func (o *object) text(path string) string {
	var at any = o.fields
	for _, key := range strings.Split(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return ""
		}
		at = m[key]
	}
	s, _ := at.(string)
	return s
}

// matches tells whether an object answers the selectors of a list.
func (o *object) matches(fieldSelector string, labelSelector labels.Selector) bool {
	for _, term := range strings.Split(fieldSelector, ",") {
		if path, value, ok := strings.Cut(term, "="); ok && o.text(path) != value {
			return false
		}
	}
	set := labels.Set{}
	if metadata, ok := o.fields["metadata"].(map[string]any); ok {
		if given, ok := metadata["labels"].(map[string]any); ok {
			for k, v := range given {
				set[k] = fmt.Sprint(v)
			}
		}
	}
	return labelSelector.Matches(set)
}
