package iscsi

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Wanted asks whether somebody waits on the place's node for the volume's disk, which is
// to come over iSCSI and is not there yet.
func Wanted(pl *evidence.Place) evidence.Answer {
	v := pl.Volume
	if !Uses(pl.X, v, pl.Texts) {
		return evidence.No()
	}
	waits := v.WaitingOn(pl.Node)
	if v.RegularRWX() { // the share-manager's node has the disk
		waits = v.Waiting()
		if !slices.Contains(pl.X.DeviceNodes(v), pl.Node) {
			return evidence.No()
		}
	}
	if d, ok := pl.X.DeviceOn(v, pl.Node); ok && d.Block != nil {
		return evidence.No()
	}
	var facts []report.Evidence
	for _, c := range waits {
		facts = append(facts, evidence.FromAPI("Pod "+c.Pod.Namespace+"/"+c.Pod.Name, "status.phase", string(c.Pod.Status.Phase)))
	}
	return evidence.When(len(facts) > 0, facts...)
}
