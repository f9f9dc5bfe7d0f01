package symptom

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// volumeDegraded: a Longhorn volume works with fewer replicas than it should. It
// informs, and is noise until something depends on the missing replica.
var volumeDegraded = &diagnosis.SymptomRule{Name: "volume-degraded", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		lh := v.LH()
		if lh == nil || lh.Status.Robustness != "degraded" {
			continue
		}
		s := onVolume(v, fmt.Sprintf("Longhorn volume %s is degraded: it has fewer healthy replicas than the %d it wants.", lh.Name, lh.NumberOfReplicas))
		s.Subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
		s.Informal = true
		s.At(lh.Status.CurrentNodeID)
		s.Evidence = append(s.Evidence, diagnosis.FromAPI("Volume "+lh.Name, "status.robustness", "degraded"))
		for _, r := range v.Longhorn.Replicas {
			if r.FailedAt != "" {
				s.At(r.NodeID)
				s.Evidence = append(s.Evidence, diagnosis.FromAPI("Replica "+r.Name, "spec.failedAt", r.FailedAt))
			}
		}
		p.AddSymptom(s)
	}
}}
