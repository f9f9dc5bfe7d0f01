package snapshot

import "time"

// freshFor is how long an event speaks of the present.
const freshFor = 10 * time.Minute

// Fresh tells whether an event is under ten minutes old and later than the last
// change of what it speaks of.
func (x *Index) Fresh(e *Event, changed time.Time) bool {
	if e == nil || e.Last.IsZero() || x.Age(e.Last) >= freshFor {
		return false
	}
	return changed.IsZero() || e.Last.After(changed)
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
