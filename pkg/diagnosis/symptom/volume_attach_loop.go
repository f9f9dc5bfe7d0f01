package symptom

import (
	"fmt"
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
	in, out := transitions(p, v, "Attached"), transitions(p, v, "Detached")
	restarts := engineRestarts(p, v)
	moving := lh.Status.State == "attaching" || lh.Status.State == "detaching"
	if !(in >= 2 && out >= 2) && !(moving && restarts >= 2) && !(moving && in+out >= 3) {
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn volume %s attaches and detaches again and again: %d times attached, %d times detached, %d restarts of its engine; now %s.",
		lh.Name, in, out, restarts, lh.Status.State))
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

// transitions counts what happened while it still speaks of the present: the last
// occurrence is at most ten minutes old.
func transitions(p *diagnosis.Pass, v *snapshot.Volume, reason string) int {
	n := 0
	for _, e := range p.Events("Volume", p.LonghornNamespace(), v.LH().Name) {
		if e.Reason == reason && p.Age(e.Last) < 10*time.Minute {
			n += max(e.Count, 1)
		}
	}
	return n
}

func engineRestarts(p *diagnosis.Pass, v *snapshot.Volume) int {
	n := 0
	for _, e := range v.Longhorn.Engines {
		for _, ev := range p.Events("Engine", p.LonghornNamespace(), e.Name) {
			if (ev.Reason == "Start" || ev.Reason == "Stop") && p.Age(ev.Last) < 10*time.Minute {
				n += max(ev.Count, 1)
			}
		}
	}
	return n
}
