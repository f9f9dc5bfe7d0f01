package symptom

import (
	"fmt"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// attachLate is how long an attach may take before it is a symptom.
const attachLate = time.Minute

// attachFailed: a volume does not get attached to the node of its pod.
var attachFailed = &diagnosis.SymptomRule{Name: "attach-failed", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, va := range v.Attachments {
			attachmentLate(p, v, va)
			attachmentLost(p, v, va)
		}
		attachTexts(p, v)
	}
}}

func attachmentLate(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) {
	e := va.Status.AttachError
	if va.Status.Attached || va.DeletionTimestamp != nil && e == nil {
		return
	}
	age := p.Age(va.CreationTimestamp.Time)
	fresh := e != nil && p.Age(e.Time.Time) < 10*time.Minute
	if age < attachLate && !fresh {
		return
	}
	node := va.Spec.NodeName
	s := &diagnosis.Symptom{Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)}
	s.Message = fmt.Sprintf("%s is not attached to node %s since %s.", capital(name(v)), node, evidence.Duration(age))
	s.Volume(v)
	s.Object("va", va.Name)
	s.At(node)
	s.Users(v.WaitingOn(node)...)
	object := "VolumeAttachment " + va.Name
	s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.attached", "false"))
	says, facts := longhorn.Stops(p.Index, v)
	if says != "" {
		s.Message += " " + says
	}
	if e != nil {
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "status.attachError", e.Message))
		s.Message += fmt.Sprintf(" It says: %s", evidence.Brief(e.Message))
	}
	s.Evidence = append(s.Evidence, facts...)
	s.Pending = justUp(p, node, va.CreationTimestamp.Time)
	p.AddSymptom(s)
}

// attachmentLost: Kubernetes has the volume attached and asks no more, and Longhorn lost it and does not
// attach it again. Pods go on with a mount of a disk that is not there.
func attachmentLost(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) {
	since, facts := longhorn.Lost(p.Index, v, va)
	if since == 0 {
		return
	}
	s := &diagnosis.Symptom{Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)}
	s.Message = fmt.Sprintf("Kubernetes has %s attached to node %s, and Longhorn has not had it there for %s.", name(v), va.Spec.NodeName, evidence.Duration(since))
	s.Volume(v)
	s.Object("va", va.Name)
	s.At(va.Spec.NodeName)
	says, more := longhorn.Stops(p.Index, v)
	if says != "" {
		s.Message += " " + says
	}
	s.Evidence = append(append(s.Evidence, facts...), more...)
	p.AddSymptom(s)
}

// attachTexts takes what the attach-detach controller says of pods. A
// Multi-Attach refusal is a symptom of its own.
func attachTexts(p *diagnosis.Pass, v *snapshot.Volume) {
	all := p.Texts(v)
	for _, t := range all {
		pod := podOf(v, t)
		if !refusesAttach(t) && !(t.Mounts() && strings.HasSuffix(t.Op, ".WaitForAttach") && pod != nil && unattached(p, v, pod.Spec.NodeName)) {
			continue
		}
		s := &diagnosis.Symptom{Subject: volumeSubject(v), Past: !present(t, pod, all)}
		at := t.Node
		if at == "" && pod != nil { // the attach-detach controller has no node
			at = pod.Spec.NodeName
		}
		if va := v.AttachmentOn(at); va != nil {
			s.Subject = diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)
			s.Object("va", va.Name)
			s.Past = s.Past || va.Status.Attached && t.Op == "AttachVolume.Attach" || !t.At.IsZero() && t.At.Before(va.CreationTimestamp.Time) // of one before it
		}
		s.Message = fmt.Sprintf("%s does not attach: %s", capital(name(v)), evidence.Brief(t.Desc))
		s.Volume(v)
		s.Pod(pod)
		s.At(t.Node)
		if pod != nil {
			s.At(pod.Spec.NodeName)
			s.Pending = justUp(p, pod.Spec.NodeName, pod.CreationTimestamp.Time)
		}
		s.Evidence = append(s.Evidence, t.Evidence())
		p.AddSymptom(s)
	}
}

// unattached tells whether the volume's attachment to a node is not made, or was
// deleted although the driver needs one. Where it is made, or the driver has none,
// waiting for it is a failure of the node.
func unattached(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if va := v.AttachmentOn(node); va != nil {
		return !va.Status.Attached
	}
	d := p.CSIDriver(v.CSIName())
	return d != nil && (d.Spec.AttachRequired == nil || *d.Spec.AttachRequired) && p.Collected("storage.k8s.io/volumeattachments")
}

func refusesAttach(t diagnosis.Text) bool {
	if is(t, message.MultiAttachExclusive, message.MultiAttachPods) {
		return false
	}
	switch {
	case t.Op == "AttachVolume.Attach":
		return true
	case t.Reason == "FailedAttachVolume":
		return true
	}
	return t.Source == "event" && is(t, message.NotAttachedPerStatus)
}
