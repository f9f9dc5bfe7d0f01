package snapshot

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// namedDevice finds what local storage makes for a volume: a logical volume
// named after it, or a loop over its file.
func namedDevice(view *NodeView, v *Volume) (match, bool) {
	want := tokens(v)
	if v.IsLonghorn() || len(want) == 0 {
		return match{}, false
	}
	for _, b := range view.Blocks() {
		if b.DM != nil && strings.HasPrefix(b.DM.UUID, "LVM-") && lvNames(b.DM.Name, want) {
			return match{dev: b.Dev, proven: true, how: "logical volume " + b.DM.Name, locator: "sys/class/block/" + b.Name + "/dm/name"}, true
		}
	}
	for _, b := range view.Blocks() {
		file := strings.TrimSuffix(b.LoopFile, " (deleted)")
		if _, kubelet := view.ParsePath(file); file == "" || kubelet || !fieldNames(path.Base(file), want) && !fieldNames(path.Base(path.Dir(file)), want) {
			continue
		}
		return view.overLoop(b), true
	}
	for _, d := range view.Facts.DeviceNodes {
		if !d.Char && linkNames(d.Path, want) {
			return match{dev: d.Dev, how: "device node " + d.Path, locator: d.Path[1:]}, true
		}
	}
	return match{}, false
}

// overLoop prefers a DRBD device above the loop: then the loop only backs it.
func (n *NodeView) overLoop(b *probes.BlockDevice) match {
	for _, h := range n.HoldersOf(b.Dev) {
		if strings.HasPrefix(h.Device.Name, "drbd") && !h.Device.Dev.IsZero() {
			return match{dev: h.Device.Dev, proven: true, how: h.Device.Name + " over " + b.LoopFile, locator: "sys/class/block/" + b.Name + "/holders"}
		}
	}
	return match{dev: b.Dev, proven: true, how: "loop over " + b.LoopFile, locator: "sys/class/block/" + b.Name + "/loop/backing_file"}
}

// lvNames tells whether the LV of "<vg>-<lv>" is named after the volume;
// device-mapper doubles the dashes inside both names.
func lvNames(name string, want []string) bool {
	const mark = "\x00"
	parts := strings.Split(strings.ReplaceAll(name, "--", mark), "-")
	if len(parts) < 2 {
		return false
	}
	return fieldNames(strings.ReplaceAll(parts[1], mark, "-"), want)
}

// localDevice finds the disk of a local PV: a device node, or the filesystem that
// is mounted at its path.
func localDevice(view *NodeView, v *Volume) (match, bool) {
	if v.PV == nil || v.PV.Spec.Local == nil {
		return match{}, false
	}
	p := v.PV.Spec.Local.Path
	if dev, ok := view.NumberAt(p); ok {
		return match{dev: dev, proven: strings.HasPrefix(p, "/dev/disk/by-id/"), how: "device " + p, locator: p[1:]}, true
	}
	mounts := view.MountsAt(p)
	if len(mounts) == 0 {
		return match{}, false
	}
	return view.matchMount(mounts[len(mounts)-1])
}

// blockPathDevice finds the device node that kubelet bound for a raw block volume.
func (x *Index) blockPathDevice(view *NodeView, v *Volume) (match, bool) {
	if !v.Block() {
		return match{}, false
	}
	for _, m := range x.VolumeMounts(v, view.Name) {
		if dev, ok := view.boundNode(m.Mount.Point); ok {
			return match{dev: dev, how: "device node bound at " + m.Mount.Point, locator: "proc/1/mountinfo"}, true
		}
	}
	for _, e := range view.Facts.Kubelet.BlockDirs {
		if p, ok := view.ParsePath(e.Path); ok && p.PV == v.PVName() && p.PV != "" {
			if dev, ok := view.boundNode(e.Path); ok {
				return match{dev: dev, how: "device node at " + e.Path, locator: strings.TrimPrefix(e.Path, "/")}, true
			}
		}
	}
	return match{}, false
}

// mountedDevice takes what is mounted at the volume's own paths, the staging
// path first. It shows what is used, not that it is the volume.
func (x *Index) mountedDevice(view *NodeView, v *Volume) (match, bool) {
	mounts := x.VolumeMounts(v, view.Name)
	for _, kind := range []string{Staging, Publish} {
		for _, m := range mounts {
			if m.Path.Kind != kind {
				continue
			}
			if found, ok := view.matchMount(m.Mount); ok {
				return found, true
			}
		}
	}
	return match{}, false
}

// matchMount is the device of a whole filesystem at a mount point. A directory
// of another filesystem bound there (root is not "/") is no device of the volume.
func (n *NodeView) matchMount(m probes.Mount) (match, bool) {
	dev := m.Dev
	if m.FSType == "btrfs" {
		found, ok := n.NumberAt(m.Source)
		if !ok {
			return match{}, false
		}
		dev = found
	} else if dev.Anonymous() || (m.Root != "/" && m.Root != "//deleted") {
		return match{}, false
	}
	how := "mount of " + m.Point
	if b := n.Device(dev); b != nil && b.DM != nil && strings.HasPrefix(b.DM.UUID, "CRYPT-") {
		if below := n.below(b); len(below) == 1 && !below[0].Dev.IsZero() {
			return match{dev: below[0].Dev, how: how + ", below mapper " + b.DM.Name, locator: "sys/class/block/" + b.Name + "/slaves"}, true
		}
	}
	return match{dev: dev, how: how, locator: "proc/1/mountinfo"}, true
}
