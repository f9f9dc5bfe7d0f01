package sketch

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Write makes the files of a snapshot in dir, the objects by their API group: what a case
// begins with.
func (w *World) Write(dir string) error {
	s := w.settle()
	groups := map[string][]string{}
	for _, o := range s.Objects {
		group, long, err := blockStyle(o)
		if err != nil {
			return fmt.Errorf("an object of the sketch: %w", err)
		}
		name := "cluster/" + cmp.Or(group, "core") + ".yaml"
		groups[name] = append(groups[name], long)
	}
	for name, objects := range groups {
		s.File(name, strings.Join(objects, "---\n"))
	}
	s.Objects = nil
	return s.write(dir)
}

// blockStyle writes an object as kubectl prints it, and tells its API group.
func blockStyle(object string) (group, long string, err error) {
	var o map[string]any
	if err := yaml.Unmarshal([]byte(object), &o); err != nil {
		return "", "", err
	}
	b, err := yaml.Marshal(o)
	version, _ := o["apiVersion"].(string)
	return schema.FromAPIVersionAndKind(version, "").Group, string(b), err
}
