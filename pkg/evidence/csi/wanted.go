package csi

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// Wanted asks whether somebody needs the driver to act on a volume now: a pod waits,
// or an attachment is asked for and not there.
func Wanted(pl *evidence.Place) evidence.Answer {
	facts := evidence.Phases(pl.Volume.Waiting())
	for _, va := range pl.Volume.Attachments {
		if !va.Status.Attached {
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "false"))
		}
	}
	return evidence.Resource(pl.X, "/pods").Found(facts...)
}
