package symptom

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// expansionPending: a claim asks for more than its volume has.
var expansionPending = &diagnosis.SymptomRule{Name: "expansion-pending", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		if v.Claim != nil && v.Claim.Status.Phase == corev1.ClaimBound {
			grows(p, v)
		}
	}
}}

func grows(p *diagnosis.Pass, v *snapshot.Volume) {
	object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
	want := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
	have := v.Claim.Status.Capacity[corev1.ResourceStorage]
	s := onVolume(v, fmt.Sprintf("%s asks for %s and has %s.", capital(name(v)), want.String(), have.String()))
	if want.Cmp(have) <= 0 || have.IsZero() {
		s.Message = fmt.Sprintf("The expansion of %s is not finished.", name(v))
	}
	for _, k := range v.Claim.Status.Conditions {
		switch k.Type {
		case corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending,
			"ControllerResizeError", "NodeResizeError":
			if k.Status == corev1.ConditionTrue {
				s.Evidence = append(s.Evidence, diagnosis.FromAPI(object, "status.conditions["+string(k.Type)+"]", string(k.Status)+" "+k.Message))
			}
		}
	}
	if !have.IsZero() && want.Cmp(have) > 0 {
		s.Evidence = append(s.Evidence, diagnosis.FromAPI(object, "status.capacity.storage", have.String()))
	}
	for _, r := range []corev1.ResourceName{corev1.ResourceStorage} {
		if st, ok := v.Claim.Status.AllocatedResourceStatuses[r]; ok && st != "" {
			s.Evidence = append(s.Evidence, diagnosis.FromAPI(object, "status.allocatedResourceStatuses", string(st)))
		}
	}
	expandTexts(p, v, s)
	if lh := v.LH(); lh != nil && lh.Status.ExpansionRequired {
		s.Evidence = append(s.Evidence, diagnosis.FromAPI("Volume "+lh.Name, "status.expansionRequired", "true"))
		s.At(lh.Status.CurrentNodeID)
	}
	if len(s.Evidence) > 0 {
		p.AddSymptom(s)
	}
}

// expandTexts takes what was said on the way. A claim that has its size is past what the
// resizer said; what a node says of the filesystem counts by itself.
func expandTexts(p *diagnosis.Pass, v *snapshot.Volume, s *diagnosis.Symptom) {
	for _, t := range p.Texts(v) {
		resize := t.Reason == "VolumeResizeFailed" || t.Reason == "FileSystemResizeFailed" || is(t, message.ResizeFailed)
		onNode := t.Fresh && !strings.HasPrefix(t.Component, "external-resizer")
		if resize && (onNode || len(s.Evidence) > 0) && len(s.Evidence) < 4 {
			s.Evidence = append(s.Evidence, t.Evidence())
			s.At(t.Node)
		}
	}
}
