package symptom

import (
	"fmt"
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeAttachLoop: a Longhorn volume attaches and detaches again and again.
var volumeAttachLoop = &diagnosis.SymptomRule{Name: "volume-attach-loop", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		if v.LH() != nil {
			loops(p, v)
		}
	}
}}

func loops(p *diagnosis.Pass, v *snapshot.Volume) {
	lh := v.LH()
	since := wantedSince(v)
	in := transitions(p, "Volume", lh.Name, since, "Attached")
	out := transitions(p, "Volume", lh.Name, since, "Detached")
	starts, stops := 0, 0
	for _, e := range v.Longhorn.Engines {
		starts += transitions(p, "Engine", e.Name, since, "Start")
		stops += transitions(p, "Engine", e.Name, since, "Stop")
	}
	moving := lh.Status.State == "attaching" || lh.Status.State == "detaching"
	if !(in >= 2 && out >= 2) && !(moving && starts >= 2 && stops >= 2) && !(moving && in+out >= 3) {
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn volume %s attaches and detaches again and again: %d times attached, %d times detached, its engine was started %d and stopped %d times; now %s.",
		lh.Name, in, out, starts, stops, lh.Status.State))
	s.Subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
	s.At(lh.Status.CurrentNodeID)
	s.At(lh.NodeID)
	s.Evidence = append(s.Evidence, diagnosis.FromAPI("Volume "+lh.Name, "status.state", lh.Status.State))
	for _, t := range p.Texts(v) {
		if len(s.Evidence) < 4 && (t.Reason == "Attached" || t.Reason == "Detached") {
			s.Evidence = append(s.Evidence, t.Evidence())
		}
	}
	p.AddSymptom(s)
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
// the last occurrence is at most ten minutes old. An event counts its occurrences and
// dates the first and the last; those between are taken to be evenly spread.
func transitions(p *diagnosis.Pass, kind, name string, since time.Time, reasons ...string) int {
	n := 0
	for _, e := range p.Events(kind, p.LonghornNamespace(), name) {
		if !slices.Contains(reasons, e.Reason) || p.Age(e.Last) >= 10*time.Minute || e.Last.Before(since) {
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
