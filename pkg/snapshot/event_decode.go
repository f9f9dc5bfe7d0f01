package snapshot

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// The two groups that serve the same events.
const (
	coreGroup   = ""
	eventsGroup = "events.k8s.io"
)

// eventKind describes Event by one of its two groups; both fill one list.
func eventKind[T any](group, version string, reduced func(*T) *Event) *kind {
	k := &kind{
		GroupVersionKind: schema.GroupVersionKind{Group: group, Version: version, Kind: "Event"},
		resource:         "events",
		decode: func(raw []byte) (metav1.Object, error) {
			var in T
			if err := json.UnmarshalCaseSensitivePreserveInts(raw, &in); err != nil {
				return nil, err
			}
			return reduced(&in), nil
		},
		quick: func(d *quickReader, raw []byte) metav1.Object {
			var in T
			if !d.into(raw, &in) {
				return nil
			}
			return reduced(&in)
		},
	}
	held(k, func(c *Cluster) *[]*Event { return &c.Events })
	return k
}

var eventKinds = []*kind{
	eventKind(coreGroup, "v1", FromCoreEvent),
	eventKind(eventsGroup, "v1", FromEventsEvent),
}

// FromCoreEvent reduces an Event of core/v1.
func FromCoreEvent(in *corev1.Event) *Event {
	e := eventAbout(in.ObjectMeta, in.InvolvedObject)
	e.Reason, e.Message, e.Type = in.Reason, in.Message, in.Type
	e.Component, e.Host = in.Source.Component, in.Source.Host
	e.by(in.ReportingController, in.ReportingInstance)
	e.Count = int(in.Count)
	e.seen(in.FirstTimestamp.Time, in.LastTimestamp.Time, in.EventTime.Time)
	if in.Series != nil {
		e.series(int(in.Series.Count), in.Series.LastObservedTime.Time)
	}
	return e
}

// FromEventsEvent reduces an Event of events.k8s.io/v1.
func FromEventsEvent(in *eventsv1.Event) *Event {
	e := eventAbout(in.ObjectMeta, in.Regarding)
	e.Reason, e.Message, e.Type = in.Reason, in.Note, in.Type
	e.Component, e.Host = in.DeprecatedSource.Component, in.DeprecatedSource.Host
	e.by(in.ReportingController, in.ReportingInstance)
	e.Count = int(in.DeprecatedCount)
	e.seen(in.DeprecatedFirstTimestamp.Time, in.DeprecatedLastTimestamp.Time, in.EventTime.Time)
	if in.Series != nil {
		e.series(int(in.Series.Count), in.Series.LastObservedTime.Time)
	}
	return e
}

func eventAbout(meta metav1.ObjectMeta, object corev1.ObjectReference) *Event {
	return &Event{
		ObjectMeta: meta, Kind: object.Kind,
		ObjNamespace: object.Namespace, ObjName: object.Name, ObjUID: string(object.UID),
	}
}

// by fills who reported from the newer fields where the older ones are empty.
func (e *Event) by(controller, instance string) {
	if e.Component == "" {
		e.Component = controller
	}
	if e.Host == "" {
		e.Host = instance
	}
}

// seen sets the times; an event of the newer API has only its eventTime.
func (e *Event) seen(first, last, at time.Time) {
	if first.IsZero() {
		first = at
	}
	e.First, e.Last = first, first
	for _, t := range []time.Time{last, at} {
		if t.After(e.Last) {
			e.Last = t
		}
	}
	if e.First.IsZero() {
		e.First = e.Last
	}
	e.First, e.Last = utc(e.First), utc(e.Last)
	e.Count = max(e.Count, 1)
}

func (e *Event) series(count int, last time.Time) {
	e.Count = max(e.Count, count)
	if last.After(e.Last) {
		e.Last = utc(last)
	}
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
