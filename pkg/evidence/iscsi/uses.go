package iscsi

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// usesWords are those of open-iscsi and its names, and of a driver about its own calls of
// it ("iscsi: error logging in target: exit status 20" of Oracle's).
var usesWords = pattern.MustCompile(`iscsiadm|iqn\.|(?i)\biscsi(?::| (?:login|session|target)\b)`)

// Uses tells whether a volume reaches its nodes over iSCSI: Longhorn's v1 engine, an
// in-tree source, a target or the protocol among what the PV and the attacher say of it,
// by value, because drivers spell the keys differently; a session that has its disk; or
// words about it just now. A driver that names another protocol is taken at
// its word.
func Uses(x *snapshot.Index, v *snapshot.Volume, texts []evidence.Text) bool {
	if v.IsLonghorn() {
		lh := v.LH()
		return lh == nil || lh.DataEngine != "v2" && lh.Frontend != "nvmf" && lh.Frontend != "ublk"
	}
	if v.PV == nil {
		return false
	}
	if v.PV.Spec.ISCSI != nil {
		return true
	}
	if c := v.PV.Spec.CSI; c != nil {
		said := statements(v)
		switch {
		case OverFC(v), anyValue(said, "nvme", "nvmetcp", "nvme-tcp", "nvmeof"):
			return false
		case anyValue(said, "iscsi"), strings.Contains(c.Driver, "iscsi"), strings.Contains(c.VolumeHandle, "iqn."):
			return true
		}
		for _, values := range said {
			for key, a := range values {
				if strings.Contains(a, "iqn.") && !strings.Contains(strings.ToLower(key), "initiator") {
					return true
				}
			}
		}
	}
	for _, t := range texts {
		ofArray := t.Reason == "FailedAttachVolume" || strings.HasSuffix(t.Locator, "status.attachError") // an array asked for its targets has none of them on a node yet
		if t.Fresh && !t.OwnWord && !ofArray && usesWords.MatchString(t.Raw) && may(x, v) {
			return true
		}
	}
	return hasSession(x, v)
}

// may tells whether a volume can come over iSCSI as far as its own source says: then a text
// may say so.
func may(x *snapshot.Index, v *snapshot.Volume) bool {
	return !v.OnRBD() && !volume.OfHypervisor(v) && volume.KindOf(x, v)&volume.Disk != 0
}

func anyValue(said []map[string]string, words ...string) bool {
	for _, values := range said {
		for _, a := range values {
			if slices.Contains(words, strings.ToLower(a)) {
				return true
			}
		}
	}
	return false
}

// hasSession tells whether a disk of the volume belongs to a session on some node.
func hasSession(x *snapshot.Index, v *snapshot.Volume) bool {
	for _, d := range x.Devices(v) {
		for _, n := range d.Numbers() {
			for _, b := range d.View.Leaves(n) {
				if d.View.SessionOfDisk(b.Name) != nil {
					return true
				}
			}
		}
	}
	return false
}
