package symptom

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// modificationPending: a claim asks for other attributes than its volume has.
var modificationPending = &diagnosis.SymptomRule{Name: "modification-pending", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		if v.Claim == nil {
			continue
		}
		if m, ok := claims.ModificationOf(v.Claim); ok {
			changes(p, v, m)
		}
	}
}}

func changes(p *diagnosis.Pass, v *snapshot.Volume, m claims.Modification) {
	missing := m.NoAttributes(p.Index)
	last, refused := m.Complaint(p.Texts(v))
	s := onVolume(v, "")
	s.Message = outcome(v, m, missing.Yes(), last)
	if s.Evidence = append(s.Evidence, m.Facts...); refused {
		s.Evidence = append(s.Evidence, last.Evidence())
	}
	class := "VolumeAttributesClass " + m.Want
	if c := p.AttributesClass(m.Want); c != nil && c.DriverName != v.CSIName() {
		s.Evidence = append(s.Evidence, evidence.FromAPI(class, "driverName", c.DriverName))
	} else if missing.Yes() {
		s.Evidence = append(s.Evidence, evidence.FromAPI(class, "", "not found"))
	}
	if age := p.Age(m.Since); m.Status == corev1.PersistentVolumeClaimModifyVolumeInProgress && !m.Since.IsZero() && age < resizing && !refused && missing.No() {
		s.Pending = fmt.Sprintf("The change of %s to %s began %s ago, which is not long yet.", name(v), class, evidence.Duration(age))
	}
	p.AddSymptom(s)
}

// outcome says how far a change came, who stopped it, and what is in force meanwhile.
func outcome(v *snapshot.Volume, m claims.Modification, missing bool, last diagnosis.Text) string {
	class, stays := "VolumeAttributesClass "+m.Want, "it keeps the attributes that it was made with."
	if m.Have != "" {
		stays = "the attributes of " + m.Have + " stay in force."
	}
	driver := "The driver " + v.CSIName()
	switch {
	case missing:
		return fmt.Sprintf("%s asks for %s, which does not exist: %s", capital(name(v)), class, stays)
	case is(last, message.Deadline):
		return fmt.Sprintf("%s is asked to give %s the attributes of %s, and does not answer in time: until it does, %s", driver, name(v), class, stays)
	case last.Code != "", m.Status == corev1.PersistentVolumeClaimModifyVolumeInfeasible:
		return fmt.Sprintf("%s refuses to give %s the attributes of %s: %s", driver, name(v), class, stays)
	case m.Status == "":
		return fmt.Sprintf("%s asks for %s, and external-resizer has not begun with it: %s", capital(name(v)), class, stays)
	}
	return fmt.Sprintf("The change of %s to %s is not finished, and nobody says why: %s", name(v), class, stays)
}
