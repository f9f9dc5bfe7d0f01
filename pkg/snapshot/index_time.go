package snapshot

import "time"

// freshFor is how long an event speaks of the present.
const freshFor = 10 * time.Minute

// Fresh tells whether an event is under ten minutes old and later than the last
// change of what it speaks of.
func (x *Index) Fresh(e *Event, changed time.Time) bool {
	if e == nil || e.Last.IsZero() || x.Age(e.Last) >= freshFor {
		return x.patient && x.Standing(e, changed)
	}
	return changed.IsZero() || e.Last.After(changed)
}

// standsFor is six times the five minutes in which one event about an object is written.
const standsFor = 30 * time.Minute

// Standing tells whether an event that is not fresh any more may still be the last word: it
// was repeated, and who said it still reports. Of one object a component writes 25 events, then one in five minutes whatever
// it has to say (client-go: tools/record/events_cache.go, defaultSpamBurst, defaultSpamQPS), so
// what is tried every two minutes may not be heard of for longer than an event is fresh.
func (x *Index) Standing(e *Event, changed time.Time) bool {
	return e != nil && e.Count > 1 && !e.Last.IsZero() && x.Age(e.Last) >= freshFor && x.Age(e.Last) < standsFor &&
		(changed.IsZero() || e.Last.After(changed)) && x.reports(e.Host)
}

// reports tells whether the kubelet of a node is known to, if an event is one of a kubelet.
func (x *Index) reports(host string) bool { return host == "" || x.NodeReady(host).Ready }

// lastWord tells whether nothing newer than an event need have been said.
func (x *Index) lastWord(e *Event, changed time.Time) bool {
	return x.Fresh(e, changed) || x.Standing(e, changed)
}

// VolumeChanged is the last change of a volume and of its attachment to a node: when its
// PersistentVolume was made, and its VolumeAttachment was made or began to go. The API
// keeps no time of "attached".
func (x *Index) VolumeChanged(v *Volume, node string) time.Time {
	var t time.Time
	if v.PV != nil {
		t = v.PV.CreationTimestamp.Time
	}
	if va := v.AttachmentOn(node); va != nil {
		if va.CreationTimestamp.After(t) {
			t = va.CreationTimestamp.Time
		}
		if va.DeletionTimestamp != nil && va.DeletionTimestamp.After(t) {
			t = va.DeletionTimestamp.Time
		}
	}
	return t
}
