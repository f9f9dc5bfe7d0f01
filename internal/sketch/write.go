package sketch

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Write makes the files of a snapshot in dir, the objects by their API group: what a case
// begins with.
func (w *World) Write(dir string) error {
	s := w.settle()
	groups := map[string][]string{}
	for _, o := range s.Objects {
		var object struct{ metav1.TypeMeta }
		if err := yaml.Unmarshal([]byte(o), &object); err != nil {
			return fmt.Errorf("an object of the sketch: %w", err)
		}
		long, err := blockStyle(o)
		if err != nil {
			return err
		}
		name := "cluster/" + cmp.Or(object.GroupVersionKind().Group, "core") + ".yaml"
		groups[name] = append(groups[name], long)
	}
	for name, objects := range groups {
		s.File(name, strings.Join(objects, "---\n"))
	}
	s.Objects = nil
	return s.write(dir)
}

// blockStyle writes an object as kubectl prints it.
func blockStyle(object string) (string, error) {
	var o any
	if err := yaml.Unmarshal([]byte(object), &o); err != nil {
		return "", fmt.Errorf("an object of the sketch: %w", err)
	}
	b, err := yaml.Marshal(o)
	return string(b), err
}
