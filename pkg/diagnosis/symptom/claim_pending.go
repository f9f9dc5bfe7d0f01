package symptom

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// claimPending: a claim has no volume, lost it, or goes away while a pod wants it.
var claimPending = &diagnosis.SymptomRule{Name: "claim-pending", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		goingPV(p, v)
		if v.Claim == nil {
			continue
		}
		why := unbound(p, v)
		if why == "" {
			continue
		}
		s := onVolume(v, why)
		object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
		s.Evidence = append(s.Evidence, diagnosis.FromAPI(object, "status.phase", string(v.Claim.Status.Phase)))
		for _, t := range p.Texts(v) {
			if t.Pod == "" && t.Source == "event" && len(s.Evidence) < 3 && !is(t, message.WaitFirstConsumer) {
				s.Evidence = append(s.Evidence, t.Evidence())
			}
		}
		p.AddSymptom(s)
	}
}}

// goingPV: a PV that is being deleted and does not go.
func goingPV(p *diagnosis.Pass, v *snapshot.Volume) {
	if v.PV == nil || v.PV.DeletionTimestamp == nil {
		return
	}
	age := p.Age(v.PV.DeletionTimestamp.Time)
	if age <= time.Minute {
		return
	}
	s := onVolume(v, fmt.Sprintf("Volume %s is being deleted since %s and is still there.", v.PV.Name, short(age)))
	s.Subject = diagnosis.ObjectSubject("PersistentVolume", "", v.PV.Name)
	s.Evidence = append(s.Evidence, diagnosis.FromAPI("PersistentVolume "+v.PV.Name, "metadata.deletionTimestamp", v.PV.DeletionTimestamp.UTC().Format(time.RFC3339)))
	p.AddSymptom(s)
}

func unbound(p *diagnosis.Pass, v *snapshot.Volume) string {
	claim := v.Claim
	who := capital(name(v))
	if claim.DeletionTimestamp != nil {
		if len(v.Waiting()) == 0 {
			if age := p.Age(claim.DeletionTimestamp.Time); age > time.Minute {
				return fmt.Sprintf("%s is being deleted since %s and is still there.", who, short(age))
			}
			return ""
		}
		return fmt.Sprintf("%s is being deleted while %s waits for it.", who, podName(v.Waiting()[0].Pod))
	}
	switch claim.Status.Phase {
	case corev1.ClaimLost:
		return who + " has lost its volume: phase Lost."
	case corev1.ClaimPending, "":
	default:
		return ""
	}
	age := p.Age(claim.CreationTimestamp.Time)
	if waitsForConsumer(v) && !wantedLong(p, v) && !failedToProvision(p, v) {
		return ""
	}
	if age < settle && !failedToProvision(p, v) {
		return ""
	}
	return fmt.Sprintf("%s is not bound since %s.", who, short(age))
}

// waitsForConsumer tells whether binding waits for a pod by design.
func waitsForConsumer(v *snapshot.Volume) bool {
	return v.Class != nil && v.Class.VolumeBindingMode != nil && *v.Class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// wantedLong tells whether a pod waits for the claim longer than starting takes.
func wantedLong(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, c := range v.Waiting() {
		if p.Age(c.Pod.CreationTimestamp.Time) >= settle {
			return true
		}
	}
	return false
}

func failedToProvision(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if t.Fresh && (t.Reason == "ProvisioningFailed" || is(t, message.ProvisionFailed, message.ClassNotFound)) {
			return true
		}
	}
	return false
}
