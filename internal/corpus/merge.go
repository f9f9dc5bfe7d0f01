package corpus

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Merged is one cluster with the objects, nodes and logs of two, as of the moment of the first.
// What both call by one name is the first one's.
func Merged(a, b *snapshot.Snapshot) *snapshot.Snapshot {
	l := copied(a)
	other := deep(reflect.ValueOf(b), later(a.TakenAt.Sub(b.TakenAt))).Interface().(*snapshot.Snapshot)
	join(reflect.ValueOf(&l.Cluster).Elem(), reflect.ValueOf(other.Cluster))
	l.Cluster.Sort()
	l.Nodes = map[string]*snapshot.NodeRecord{}
	maps.Copy(l.Nodes, other.Nodes)
	maps.Copy(l.Nodes, a.Nodes)
	l.Logs, l.Gaps = slices.Concat(l.Logs, other.Logs), slices.Concat(l.Gaps, other.Gaps)
	return l
}

// join appends what a lacks of the lists of b.
func join(a, b reflect.Value) {
	for i := range a.NumField() {
		f, more := a.Field(i), b.Field(i)
		if f.Kind() == reflect.Struct {
			join(f, more)
			continue
		}
		has := map[string]bool{}
		for j := range f.Len() {
			has[nameOf(f.Index(j))] = true
		}
		f.Set(f.Slice3(0, f.Len(), f.Len()))
		for j := range more.Len() {
			if !has[nameOf(more.Index(j))] {
				f.Set(reflect.Append(f, more.Index(j)))
			}
		}
	}
}

func nameOf(v reflect.Value) string {
	o := v.Interface().(metav1.Object)
	return o.GetNamespace() + "/" + o.GetName()
}

var dateForm = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)

// later exchanges every moment, also those in texts, for one that is later by a time.
func later(by time.Duration) func(reflect.Value) (reflect.Value, bool) {
	return func(v reflect.Value) (reflect.Value, bool) {
		switch v.Kind() {
		case reflect.Struct:
			if at, ok := v.Interface().(time.Time); ok {
				return reflect.ValueOf(at.Add(by)), true
			}
		case reflect.String:
			s := dateForm.ReplaceAllStringFunc(v.String(), func(s string) string {
				at, err := time.Parse(time.RFC3339Nano, s)
				if err != nil {
					return s
				}
				return at.Add(by).Format(time.RFC3339Nano)
			})
			return reflect.ValueOf(s).Convert(v.Type()), true
		}
		return v, false
	}
}
