package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// bareWWID reduces the ways in which one identity is written to its digits.
func bareWWID(s string) string { return snapshot.BareWWID(s) }

// mapWWID is the WWID of a multipath map, from its uuid.
func mapWWID(m *probes.BlockDevice) string { return bareWWID(strings.TrimPrefix(m.DM.UUID, "mpath-")) }

// volumeWWIDs are the identities that the PV states for its disk.
func volumeWWIDs(v *snapshot.Volume) []string { return v.WWIDs() }

// comparable keeps the stated identities that are of one kind with a disk's: of equal
// length, and from one vendor (the digits after the type). The name of a target's port
// looks like an identity, too.
func comparable(stated []string, id string) []string {
	const vendor = 7
	var out []string
	for _, s := range stated {
		if len(s) == len(id) && len(id) > vendor && s[:vendor] == id[:vendor] {
			out = append(out, s)
		}
	}
	return out
}

// mapOfVolume tells whether a map is the volume's, by WWID or because the volume's
// device is one of its slaves, and how that is known.
func mapOfVolume(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) (bool, string) {
	w := mapWWID(m)
	for _, o := range volumeWWIDs(v) {
		if o == w || len(o) >= 16 && strings.HasSuffix(w, o) || len(w) >= 16 && strings.HasSuffix(o, w) {
			return true, "the map's WWID is that of the volume (" + o + ")"
		}
	}
	if d, ok := p.DeviceOn(v, view.Name); ok {
		if d.Dev == m.Dev {
			return true, d.How
		}
		for _, leaf := range view.Leaves(m.Dev) {
			if leaf.Dev == d.Dev {
				return true, "the volume's disk " + leaf.Name + " is a slave of the map"
			}
		}
	}
	return false, ""
}

// ownedByOther tells whether a map belongs to another volume of the cluster than this one,
// or to any (nil).
func ownedByOther(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) bool {
	for _, o := range p.Index.Volumes {
		if o == v {
			continue
		}
		if mine, _ := mapOfVolume(p, o, view, m); mine {
			return true
		}
	}
	return false
}

// disksOutside are running disks with the map's WWID that are no slaves of it.
func disksOutside(view *snapshot.NodeView, m *probes.BlockDevice) []string {
	var out []string
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if b.WWID != "" && bareWWID(b.WWID) == mapWWID(m) && view.DeadPath(b.Name) == "" && !contains(m.Slaves, b.Name) && b.DM == nil {
			out = append(out, b.Name)
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
