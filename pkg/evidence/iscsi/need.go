package iscsi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	// noInitiator is how the storage or a driver says that a machine brought no initiator, before any disk is shown to it.
	noInitiator = pattern.MustCompile(`(?i)\bno (?:[\w-]+ ){0,3}(?:initiators?|iqns?)\b|\bwithout (?:an? |any )?(?:iscsi )?(?:initiators?|iqns?)\b|\b(?:initiators?|iqns?)\b[^.;]{0,40}?(?:not found|\bempty\b|\bmissing\b|\[\])|` +
		`(?:not (?:have|find|get|read|determine)|lacks|failed to get) (?:an?y? |the )?(?:[\w-]+ ){0,2}(?:initiators?|iqns?)\b`)
	otherInitiator = pattern.MustCompile(`(?i)\bfcp?\b|\bfib(?:re|er)|\bwwp?n|\bnqn|\bnvme`)
)

// missed asks whether somebody says that the place's node has no initiator, of a volume whose own source names no network,
// on a machine that could come by no other.
func missed(pl *evidence.Place) bool {
	if pl.View == nil || !may(pl.X, pl.Volume) || OverFC(pl.Volume) || overNVMe(pl.Volume) {
		return false
	}
	for path := range pl.View.Facts.Files {
		if strings.HasPrefix(path, "sys/class/fc_host/") {
			return false
		}
	}
	return pl.Refused().Say(func(t evidence.Text) bool {
		return noInitiator.MatchString(t.Raw) && (strings.Contains(strings.ToLower(t.Raw), "iscsi") || !otherInitiator.MatchString(t.Raw))
	}).Yes()
}

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
	return evidence.When(len(waits) > 0, evidence.Phases(waits)...)
}

// NeedOf says why the place's node must be able to log in, and asks whether somebody waits
// for it there. Empty: it need not, or nobody does.
func NeedOf(pl *evidence.Place) (why string, a evidence.Answer) {
	if pl.Volume == nil {
		return nodeNeeds(pl), evidence.Yes()
	}
	if a = Wanted(pl); a.No() && missed(pl) {
		waits := pl.Volume.WaitingOn(pl.Node)
		a = evidence.When(len(waits) > 0, evidence.Phases(waits)...)
	}
	if a.No() {
		return "", a
	}
	return "volume " + nameOf(pl.Volume) + " waits there for its iSCSI disk", a
}

// nodeNeeds tells why a node as a whole must be able to log in, beside the volumes that
// somebody waits for: it is one of Longhorn's, or its pods use such volumes. Empty: it
// need not. What is wrong there shows at the next attach.
func nodeNeeds(pl *evidence.Place) string {
	if v1, ok := pl.X.Setting("v1-data-engine"); (!ok || v1 != "false") && pl.X.LHNode(pl.Node) != nil {
		return "it is a node of Longhorn, whose v1 engines attach over iSCSI"
	}
	if slices.ContainsFunc(pl.X.VolumesOn(pl.Node), func(v *snapshot.Volume) bool { return Uses(pl.X, v, nil) }) {
		return "pods on the node use iSCSI volumes"
	}
	return ""
}

// nameOf is the name that people use for a volume.
func nameOf(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	return cmp.Or(v.PVName(), v.Spoken())
}
