package csi

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Wanted asks whether somebody needs the driver to act on a volume now: a pod waits,
// or an attachment is asked for and not there.
func Wanted(pl *evidence.Place) evidence.Answer {
	var facts []report.Evidence
	for _, w := range pl.Volume.Waiting() {
		facts = append(facts, evidence.FromAPI("Pod "+w.Pod.Namespace+"/"+w.Pod.Name, "status.phase", string(w.Pod.Status.Phase)))
	}
	for _, va := range pl.Volume.Attachments {
		if !va.Status.Attached {
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "false"))
		}
	}
	return evidence.Resource(pl.X, "/pods").Found(facts...)
}
