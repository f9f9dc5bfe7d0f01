// Package lvm answers questions about volume groups as the device mapper shows them.
package lvm

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The uuid of a logical volume is "LVM-", 32 characters of its group and 32 of its own
// (lib/activate/dev_manager.c, build_dm_uuid).
const groupEnd = len("LVM-") + 32

// Group are the active logical volumes of the group of one of them.
func Group(view *snapshot.NodeView, lv *probes.BlockDevice) []*probes.BlockDevice {
	if lv == nil || lv.DM == nil || len(lv.DM.UUID) < groupEnd || !strings.HasPrefix(lv.DM.UUID, "LVM-") {
		return nil
	}
	return evidence.Keep(view.Blocks(), func(b *probes.BlockDevice) bool {
		return b.DM != nil && strings.HasPrefix(b.DM.UUID, lv.DM.UUID[:groupEnd])
	})
}

// Free asks whether nothing uses any logical volume of a group besides the group's own
// volumes that lie on each other.
func Free(x *snapshot.Index, on string, lv *probes.BlockDevice) evidence.Answer {
	view, whole := x.View(on), node.Whole(x, on, probes.Block)
	if view == nil {
		return whole.Nothing()
	}
	group := Group(view, lv)
	if len(group) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Block), Node: on, Why: lv.Name + " has no uuid of LVM"})
	}
	names := evidence.Each(group, func(b *probes.BlockDevice) string { return b.Name })
	out := []evidence.Answer{}
	for _, b := range group {
		out = append(out, disk.Unmounted(x, on, b.Dev), disk.Closed(x, on, b.Dev), disk.Alone(x, on, b.Dev, names...))
	}
	return evidence.All(out...)
}

// Inside asks whether every disk below a group lies on one device: the group belongs
// to it alone, and so does its name. A guest's group can be called like the host's own (rhel,
// ubuntu-vg: the installer's names), and a command means both by it.
func Inside(x *snapshot.Index, on string, lv *probes.BlockDevice, base probes.Dev) evidence.Answer {
	view, whole := x.View(on), node.Whole(x, on, probes.Block)
	if view == nil {
		return whole.Nothing()
	}
	if b := evidence.First(view.Blocks(), func(b *probes.BlockDevice) bool { return namesake(lv, b) }); b != nil {
		return evidence.No(evidence.FromNode(on, "sys/class/block/"+b.Name+"/dm/name", b.DM.Name))
	}
	for _, b := range Group(view, lv) {
		for _, leaf := range view.Leaves(b.Dev) {
			if !below(view, leaf, base) {
				return evidence.No(evidence.FromNode(on, "sys/class/block/"+b.Name+"/slaves", leaf.Name))
			}
		}
	}
	return whole.Nothing(evidence.FromNode(on, "sys/class/block/"+lv.Name+"/slaves", strings.Join(lv.Slaves, " ")))
}

// namesake tells whether a device is a logical volume of another group with the same name.
func namesake(lv, b *probes.BlockDevice) bool {
	if !disk.IsMapped(lv, "LVM-") || !disk.IsMapped(b, "LVM-") || sameGroup(lv, b) {
		return false
	}
	mine, _ := split(lv.DM.Name)
	its, _ := split(b.DM.Name)
	return mine == its
}

// below tells whether a bottom disk is a device, a partition of it, or what it lies on.
func below(view *snapshot.NodeView, leaf *probes.BlockDevice, base probes.Dev) bool {
	b := view.Device(base)
	if b == nil {
		return false
	}
	return leaf.Parent == b.Name || slices.ContainsFunc(view.Leaves(base), func(d *probes.BlockDevice) bool { return d.Name == leaf.Name })
}
