package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Wrong is a device of a volume's name or path that is another disk than the volume's.
type Wrong struct {
	Dev     probes.Dev          // the number that is there
	Block   *probes.BlockDevice // the disk of that number; nil: none has it
	Node    string              // the device node, for one of Longhorn
	Own     *probes.BlockDevice // the volume's own disk; nil: it was not found
	How     string              // how the volume's own disk is known
	Foreign string              // whose disk it is, as a sentence goes on
	Other   *snapshot.Volume    // the volume whose disk it is
	Twice   bool                // it is the disk of both, as far as the node can tell
	Is      evidence.Answer
	AtMost  report.Certainty
}

// WrongNumber compares the number of /dev/longhorn/<vol> with the disk of the session that
// carries the volume's IQN. Longhorn makes that node itself (mknod), so it can be wrong
// while everything else is right.
func WrongNumber(pl *evidence.Place) (Wrong, bool) {
	view, v := pl.View, pl.Volume
	node := view.DeviceNode("/dev/longhorn/" + LonghornName(v))
	if node == nil || node.Dev.IsZero() || !called(v) {
		return Wrong{}, false
	}
	d, ok := pl.X.DeviceOn(v, pl.Node)
	proven := ok && d.Proven && d.Block != nil
	w := Wrong{Dev: node.Dev, Block: view.Device(node.Dev), Node: node.Path}
	number := evidence.FromNode(pl.Node, strings.TrimPrefix(node.Path, "/"), "block "+node.Dev.String())
	var own report.Evidence
	switch {
	case proven && view.Rests(node.Dev, d.Dev):
		return Wrong{}, false
	case proven:
		w.Own, w.How, own = d.Block, d.How, evidence.FromNode(pl.Node, d.Locator, d.How)
	case isV2(v): // nothing to compare with: its disks look like any other NVMe or ublk disk
		return Wrong{}, false
	}
	if w.Block == nil {
		w.Is = evidence.Yes(number, evidence.FromNode(pl.Node, "sys/class/block/*/dev", "no entry "+node.Dev.String()), own)
		return w, proven && view.Dead(node.Dev) && len(view.Uses(node.Dev)) == 0 // mounted: mount-of-dead-device
	}
	w.Foreign = foreign(pl, w.Block)
	if !proven && w.Foreign == "" {
		return Wrong{}, false
	}
	if !proven && !strings.Contains(w.Foreign, "belongs to") {
		w.AtMost = report.Likely
		if at := mountedAt(view, w.Block); at != "" {
			w.AtMost, w.Foreign = "", ", it is the node's own disk, which has "+at+" mounted"
		}
	}
	facts := []report.Evidence{own, number, evidence.FromNode(pl.Node, "sys/class/block/"+w.Block.Name+"/device/model", strings.TrimSpace(w.Block.Model))}
	if uses := view.InitUses(w.Dev); len(uses) > 0 {
		facts = append(facts, evidence.FromNode(pl.Node, "proc/1/mountinfo", uses[0].Mount.Raw))
	}
	w.Is = evidence.Yes(facts...)
	return w, true
}

// called tells whether Longhorn calls the volume attached: before that its device node may
// be an old one that the attachment replaces.
func called(v *snapshot.Volume) bool {
	lh := v.LH()
	return lh == nil || lh.Status.State == "" || lh.Status.State == "attached"
}

// mountedAt is where the node itself mounts a disk or a partition of it for its own use:
// the root, or what the kubelet's directory lies on.
func mountedAt(view *snapshot.NodeView, disk *probes.BlockDevice) string {
	for _, point := range []string{"/", "/boot", "/boot/efi", "/usr", "/var"} {
		for _, m := range view.MountsAt(point) {
			if b := view.Device(m.Dev); b != nil && (b.Name == disk.Name || b.Parent == disk.Name) {
				return point
			}
		}
	}
	return ""
}

// WrongMounted compares, for drivers with identities of their own (serial, WWID, image),
// the disk that carries the volume's identity with the one that is mounted at its paths.
// Both live; only times could tell which of them came first, so it is likely at most. Of a
// volume whose own disk is not there, the mounted one must bear another one's name.
func WrongMounted(pl *evidence.Place) (Wrong, bool) {
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || pl.Volume.RegularRWX() {
		return Wrong{}, false
	}
	proven := d.Proven && d.Block != nil
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		b := pl.View.Device(m.Mount.Dev)
		if b == nil || m.Mount.Dev.Anonymous() || m.Mount.Root != "/" && m.Path.Kind != snapshot.SubPath || !usable(b) || b.LoopFile != "" {
			continue
		}
		if proven && (slices.Contains(d.Numbers(), m.Mount.Dev) || pl.View.Rests(m.Mount.Dev, d.Dev)) {
			if w, ok := twice(pl, b, m); ok {
				return w, true
			}
			continue
		}
		w := Wrong{Dev: b.Dev, Block: b, AtMost: report.Likely}
		facts := []report.Evidence{evidence.FromNode(pl.Node, "proc/1/mountinfo", m.Mount.Raw)}
		if proven {
			w.Own, w.How, facts = d.Block, d.How, append(facts, evidence.FromNode(pl.Node, d.Locator, d.How))
		}
		if w.Other = otherBelow(pl, m.Mount.Dev); w.Other != nil {
			w.Is = evidence.Yes(facts...)
			return w, true
		}
		if s, name := strangerBelow(pl, m.Mount.Dev, proven); s != nil && direct(pl.View, b) {
			w.Foreign = name
			w.Is = evidence.Yes(append(facts, evidence.FromNode(pl.Node, "sys/class/block/"+s.Name, name))...)
			return w, true
		}
	}
	return Wrong{}, false
}

// twice finds another volume that is attached to the node, too, and whose paths have the same disk mounted:
// one of the two got the number of the other's disk (kubernetes-sigs/azuredisk-csi-driver#3457).
func twice(pl *evidence.Place, b *probes.BlockDevice, m snapshot.VolumeMount) (Wrong, bool) {
	o := OwnerOf(pl.X, pl.Volume, pl.Node, m.Mount.Dev)
	if o == nil || pl.Volume.AttachmentOn(pl.Node) == nil || o.AttachmentOn(pl.Node) == nil {
		return Wrong{}, false
	}
	for _, n := range pl.X.VolumeMounts(o, pl.Node) {
		if n.Mount.Dev == m.Mount.Dev && n.Mount.Root == m.Mount.Root {
			return Wrong{Dev: b.Dev, Block: b, Other: o, Twice: true, AtMost: report.Likely,
				Is: evidence.Yes(evidence.FromNode(pl.Node, "proc/1/mountinfo", m.Mount.Raw), evidence.FromNode(pl.Node, "proc/1/mountinfo", n.Mount.Raw))}, true
		}
	}
	return Wrong{}, false
}

// usable tells whether a disk answers. Devices without device/state (NVMe namespaces, virtio)
// are usable while they exist.
func usable(b *probes.BlockDevice) bool {
	return b.State == "" || b.State == "running" || b.State == "live"
}

// otherBelow is another volume whose disk, by its own identity, lies below a mounted device.
func otherBelow(pl *evidence.Place, dev probes.Dev) *snapshot.Volume {
	if o := OwnerOf(pl.X, pl.Volume, pl.Node, dev); o != nil {
		return o
	}
	if b := pl.View.Device(dev); b == nil || !direct(pl.View, b) {
		return nil
	}
	for _, leaf := range pl.View.Leaves(dev) {
		if o := OwnerOf(pl.X, pl.Volume, pl.Node, leaf.Dev); o != nil {
			return o
		}
	}
	return nil
}

// OwnerOf is another volume than v whose device on a node is, by its own identity, the one
// of a number; or nil.
func OwnerOf(x *snapshot.Index, v *snapshot.Volume, on string, dev probes.Dev) *snapshot.Volume {
	return evidence.First(x.Volumes, func(o *snapshot.Volume) bool {
		d, ok := x.DeviceOn(o, on)
		return ok && d.Proven && slices.Contains(d.Numbers(), dev) && !o.Same(v)
	})
}
