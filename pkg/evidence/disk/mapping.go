package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Mapping is the dm-crypt mapping of a volume on a node by its name: Longhorn calls it
// like the volume (v1) or <volume>-encrypted (v2); other drivers put luks- and words of their
// own before the handle or the volume's name (ceph-csi luks-rbd-, Trident with _ for -). It may
// be of an earlier attachment. So may one without any disk below that has the name of a link to
// the volume's present disk (hcloud-csi), or was opened with the header that this has: dm/uuid is
// CRYPT-<type>-<UUID>-<name> (libcryptsetup).
func Mapping(view *snapshot.NodeView, v *snapshot.Volume, present probes.Dev) *probes.BlockDevice {
	header := strings.ReplaceAll(view.Facts.Contents[present].UUID, "-", "")
	for _, b := range view.Blocks() {
		if !IsMapped(b, "CRYPT-") {
			continue
		}
		name := strings.ReplaceAll(b.DM.Name, "_", "-")
		for _, n := range []string{v.Handle, v.PVName()} {
			if n != "" && (name == n || name == n+"-encrypted" || strings.HasPrefix(name, "luks-") && (strings.HasSuffix(name, "-"+n) || strings.HasPrefix(name, "luks-rbd-crypt-"+n))) {
				return b
			}
		}
		link, found := view.NumberAt("/dev/disk/by-id/" + b.DM.Name)
		if Bottomless(view, b) && (found && link == present || len(header) == 32 && strings.Contains(b.DM.UUID, "-"+header+"-")) {
			return b
		}
	}
	return nil
}

// Bottomless tells whether no disk lies below a mapping any more.
func Bottomless(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return !slices.ContainsFunc(b.Slaves, func(s string) bool { return view.ByName(s) != nil })
}

// Mappings are all mappings of a volume on a node: those that lie over its disk, by
// whatever name, and the one that has its name.
func Mappings(view *snapshot.NodeView, v *snapshot.Volume, disks ...probes.Dev) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	for _, dev := range disks {
		out = append(out, evidence.Keep(view.Above(dev), func(b *probes.BlockDevice) bool { return IsMapped(b, "CRYPT-") })...)
	}
	for _, dev := range append(disks, probes.Dev{}) {
		if m := Mapping(view, v, dev); m != nil {
			return append(out, m)
		}
	}
	return out
}
