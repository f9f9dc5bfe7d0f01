package snapshot

import (
	"slices"
	"strings"
)

func (x *Index) indexEvents() {
	x.events = map[eventKey][]*Event{}
	for _, e := range x.Cluster.Events {
		if e == nil {
			continue
		}
		k := eventKey{e.Kind, e.ObjNamespace, e.ObjName}
		x.events[k] = append(x.events[k], e)
		// Cluster-scoped objects: the recorder writes the namespace "default" or none.
		if e.ObjNamespace != "" {
			k.namespace = ""
			x.events[k] = append(x.events[k], e)
		}
	}
	for _, list := range x.events {
		slices.SortStableFunc(list, olderEvent)
	}
}

func olderEvent(a, b *Event) int {
	if c := a.Last.Compare(b.Last); c != 0 {
		return c
	}
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}

// Events returns the events about an object, oldest first. Without a namespace
// the object is cluster-scoped, or may be in any namespace.
func (x *Index) Events(kind, namespace, name string) []*Event {
	return x.events[eventKey{kind, namespace, name}]
}
