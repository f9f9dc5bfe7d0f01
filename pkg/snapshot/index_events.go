package snapshot

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (x *Index) indexEvents() {
	x.events = map[eventKey][]*Event{}
	x.killed = map[key]time.Time{}
	for _, e := range x.Cluster.Events {
		if e == nil {
			continue
		}
		k := eventKey{e.Kind, e.ObjNamespace, e.ObjName}
		x.events[k] = append(x.events[k], e)
		if e.ObjNamespace != "" && !misplaced(e) {
			k.namespace = ""
			x.events[k] = append(x.events[k], e)
		}
		if at := (key{e.ObjNamespace, e.Host}); e.Kind == "Pod" && e.Reason == "Killing" && e.Last.After(x.killed[at]) {
			x.killed[at] = e.Last
		}
	}
	for _, list := range x.events {
		slices.SortStableFunc(list, olderEvent)
	}
}

// misplaced tells whether an event names a kind without namespaces in a namespace that is
// not theirs: it is about another object (Longhorn's Node), or by whoever may write events
// there. The recorder writes in "default", and names that or none (client-go,
// tools/record, makeEvent).
func misplaced(e *Event) bool {
	return slices.Contains([]string{"Node", "PersistentVolume", "VolumeAttachment"}, e.Kind) && e.ObjNamespace != "" && e.ObjNamespace != metav1.NamespaceDefault
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

// LastKilled is when a pod of a namespace was last stopped on a node; zero when no event
// says so. Of a pod that is gone this event is all that is left.
func (x *Index) LastKilled(namespace, node string) time.Time {
	at, anywhere := x.killed[key{namespace, node}], x.killed[key{namespace, ""}] // some reporters name no host
	if anywhere.After(at) {
		return anywhere
	}
	return at
}
