package disk

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Mapping is the dm-crypt mapping of a volume on a node by its name: Longhorn calls it
// like the volume (v1) or <volume>-encrypted (v2); other drivers use the handle,
// luks-<handle> or luks-rbd-crypt-<handle>. It may be of an earlier attachment.
func Mapping(view *snapshot.NodeView, v *snapshot.Volume) *probes.BlockDevice {
	for i := range view.Facts.Block {
		b := &view.Facts.Block[i]
		if !IsMapped(b, "CRYPT-") {
			continue
		}
		for _, n := range []string{v.Handle, v.PVName()} {
			if n != "" && (b.DM.Name == n || b.DM.Name == n+"-encrypted" || b.DM.Name == "luks-"+n || strings.HasPrefix(b.DM.Name, "luks-rbd-crypt-"+n)) {
				return b
			}
		}
	}
	return nil
}

// Mappings are all mappings of a volume on a node: those that lie over its disk, by
// whatever name, and the one that has its name.
func Mappings(view *snapshot.NodeView, v *snapshot.Volume, disks ...probes.Dev) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	for _, dev := range disks {
		for _, h := range view.HoldersOf(dev) {
			if IsMapped(h.Device, "CRYPT-") {
				out = append(out, h.Device)
			}
		}
	}
	if m := Mapping(view, v); m != nil {
		out = append(out, m)
	}
	return out
}
