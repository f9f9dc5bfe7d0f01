package symptom

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
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
	t := longhorn.TurnsOf(p.Index, v)
	if !t.Loops(lh.Status.State) {
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn volume %s attaches and detaches again and again: %d times attached, %d times detached, its engine was started %d and stopped %d times; now %s.",
		lh.Name, t.In, t.Out, t.Starts, t.Stops, lh.Status.State))
	s.Subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
	s.At(lh.Status.CurrentNodeID)
	s.At(lh.NodeID)
	s.Evidence = append(s.Evidence, evidence.FromAPI("Volume "+lh.Name, "status.state", lh.Status.State))
	for _, said := range p.Texts(v) {
		if len(s.Evidence) < 4 && (said.Reason == "Attached" || said.Reason == "Detached") {
			s.Evidence = append(s.Evidence, said.Evidence())
		}
	}
	p.AddSymptom(s)
}
