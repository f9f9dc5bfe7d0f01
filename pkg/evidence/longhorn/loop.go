package longhorn

import (
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Turns is how often a volume was attached and detached, and its engine started and
// stopped, since somebody wants it and lately.
type Turns struct{ In, Out, Starts, Stops int }

// TurnsOf counts them.
func TurnsOf(x *snapshot.Index, v *snapshot.Volume) Turns {
	since := wantedSince(v)
	t := Turns{In: transitions(x, v, "Volume", v.LH().Name, since, "Attached"), Out: transitions(x, v, "Volume", v.LH().Name, since, "Detached")}
	for _, e := range v.Longhorn.Engines {
		t.Starts += transitions(x, v, "Engine", e.Name, since, "Start")
		t.Stops += transitions(x, v, "Engine", e.Name, since, "Stop")
	}
	return t
}

// Loops tells whether that is more than the ordinary: a volume whose state is the given
// one attaches and detaches again and again.
func (t Turns) Loops(state string) bool {
	moving := state == "attaching" || state == "detaching"
	return t.In >= 2 && t.Out >= 2 || moving && t.Starts >= 2 && t.Stops >= 2 || moving && t.In+t.Out >= 3
}

// wantedSince is when the first of the pods was made that want the volume now. A volume
// that is scaled down and up is detached and attached, which is no loop.
func wantedSince(v *snapshot.Volume) time.Time {
	var first time.Time
	for _, c := range v.Live() {
		if at := c.Pod.CreationTimestamp.Time; first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// transitions counts what happened since a moment, while it still speaks of the present:
// the last occurrence is at most ten minutes old, and no pod got the volume after it. An event counts its occurrences and
// dates the first and the last; those between are taken to be evenly spread.
func transitions(x *snapshot.Index, v *snapshot.Volume, kind, name string, since time.Time, reasons ...string) int {
	n := 0
	for _, e := range x.Events(kind, x.LonghornNamespace(), name) {
		if !slices.Contains(reasons, e.Reason) || x.Age(e.Last) >= freshFor || e.Last.Before(since) || v.ServedSince("", e.Last) {
			continue
		}
		count, span := max(e.Count, 1), e.Last.Sub(e.First)
		if count > 1 && !e.First.IsZero() && e.First.Before(since) && span > 0 {
			count = 1 + int(float64(count-1)*float64(e.Last.Sub(since))/float64(span))
		}
		n += count
	}
	return n
}
