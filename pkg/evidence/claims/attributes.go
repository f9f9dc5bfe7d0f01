package claims

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Modification is a change of what a volume can do (its IOPS, its throughput) that was asked
// for and is not done: external-resizer hands the parameters of a VolumeAttributesClass to the
// driver (KEP-3751). Until that succeeds the attributes of the old class stay in force.
type Modification struct {
	Want, Have string                                         // classes; Have is empty where none is in force
	Status     corev1.PersistentVolumeClaimModifyVolumeStatus // empty while nobody has begun
	Since      time.Time                                      // the last attempt; zero: not known
	Facts      []report.Evidence
}

// ModificationOf is the change that a bound claim waits for. Who went back to the class in force, or
// never had one and names none any more, waits for nothing: the status tells of the last attempt
// then, and only one that may still be under way goes on (modify of external-resizer's
// pkg/modifycontroller).
func ModificationOf(c *corev1.PersistentVolumeClaim) (Modification, bool) {
	m := Modification{Want: deref(c.Spec.VolumeAttributesClassName), Have: deref(c.Status.CurrentVolumeAttributesClassName)}
	target := ""
	if s := c.Status.ModifyVolumeStatus; s != nil {
		m.Status, target = s.Status, s.TargetVolumeAttributesClassName
	}
	goesOn := m.Status == corev1.PersistentVolumeClaimModifyVolumeInProgress
	if c.Status.Phase != corev1.ClaimBound || !goesOn && (m.Want == "" || m.Want == m.Have) {
		return m, false
	}
	if goesOn && target != "" { // the resizer does not turn before it knows how the last attempt ended
		m.Want = target
	}
	m.Facts = append(m.Facts, evidence.FromAPI(Object(c), "spec.volumeAttributesClassName", deref(c.Spec.VolumeAttributesClassName)))
	if m.Have != "" {
		m.Facts = append(m.Facts, evidence.FromAPI(Object(c), "status.currentVolumeAttributesClassName", m.Have))
	}
	if m.Status != "" {
		m.Facts = append(m.Facts, evidence.FromAPI(Object(c), "status.modifyVolumeStatus.status", string(m.Status)))
	}
	for _, k := range c.Status.Conditions {
		if k.Type == corev1.PersistentVolumeClaimVolumeModifyingVolume && k.Status == corev1.ConditionTrue {
			m.Since = k.LastTransitionTime.Time
		}
	}
	return m, true
}

// NoAttributes asks whether the class that a change wants does not exist.
func (m Modification) NoAttributes(x *snapshot.Index) evidence.Answer {
	if x.AttributesClass(m.Want) != nil {
		return evidence.No()
	}
	return evidence.Resource(x, "storage.k8s.io/volumeattributesclasses").Nothing()
}

// OfModification tells whether a text is about such a change: an event of external-resizer, or what
// it wrote into the claim.
func OfModification(t evidence.Text) bool {
	return strings.HasPrefix(t.Reason, "VolumeModify") || strings.HasSuffix(t.Locator, modifyError) || strings.HasSuffix(t.Locator, modifying)
}

// Complaint is the last one about a change, unless a success came later.
func (m Modification) Complaint(texts evidence.Texts) (evidence.Text, bool) {
	t, ok := texts.First(func(t evidence.Text) bool {
		return OfModification(t) && t.Reason != "VolumeModify" && (t.Source == "event" || t.Code != "" || strings.HasSuffix(t.Locator, modifyError))
	})
	return t, ok && t.Reason != "VolumeModifySuccessful" && t.Reason != "VolumeModifyCancelled"
}

// conditions of a claim.
const (
	modifyError = "status.conditions[" + string(corev1.PersistentVolumeClaimVolumeModifyVolumeError) + "]"
	modifying   = "status.conditions[" + string(corev1.PersistentVolumeClaimVolumeModifyingVolume) + "]"
)

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
