package mount

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hollow tells whether a device-mapper or RAID device has lost everything below.
func hollow(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	if b.DM == nil || len(b.Slaves) == 0 {
		return false
	}
	for _, leaf := range view.Leaves(b.Dev) {
		if leaf.Dev != b.Dev && !offline(leaf) {
			return false
		}
	}
	return true
}

func offline(b *probes.BlockDevice) bool {
	return slices.Contains([]string{"offline", "transport-offline", "deleted", "del", "cancel", "dead"}, b.State)
}

// pathless tells whether a device is a multipath map from which every path was taken.
func pathless(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return b.DM != nil && strings.HasPrefix(b.DM.UUID, "mpath-") && !slices.ContainsFunc(b.Slaves, func(name string) bool { return view.ByName(name) != nil })
}

// pathsBack tells whether a running disk with the WWID of a multipath map stands
// beside it: then the map can have its paths back (multipath-map-orphaned).
func pathsBack(view *snapshot.NodeView, m *probes.BlockDevice) bool {
	if m.DM == nil {
		return false
	}
	wwid, ok := strings.CutPrefix(m.DM.UUID, "mpath-")
	if !ok {
		return false
	}
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		id := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(b.WWID), "naa."), "eui.")
		if b.DM == nil && len(id) >= 8 && strings.HasSuffix(strings.ToLower(wwid), id) && !offline(b) && !slices.Contains(m.Slaves, b.Name) {
			return true
		}
	}
	return false
}
