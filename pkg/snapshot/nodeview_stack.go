package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// indexParents joins holders and slaves, which a recording may give one-sided,
// and loops with the device that their backing file leads to.
func (n *NodeView) indexParents() {
	n.parents = map[string][]string{}
	above := func(lower, upper string) {
		if lower != upper && lower != "" && !slices.Contains(n.parents[lower], upper) {
			n.parents[lower] = append(n.parents[lower], upper)
		}
	}
	for _, b := range n.Blocks() {
		for _, h := range b.Holders {
			above(b.Name, h)
		}
		for _, s := range b.Slaves {
			above(s, b.Name)
		}
		if lower := n.backing(b); lower != nil {
			above(lower.Name, b.Name)
		}
	}
	for _, list := range n.parents {
		slices.Sort(list)
	}
}

// backing is the device below a loop: the one that its file is (kubelet binds
// the device node to volumeDevices/<pv>/dev/<uid> and puts a loop over it).
func (n *NodeView) backing(loop *probes.BlockDevice) *probes.BlockDevice {
	file := strings.TrimSuffix(loop.LoopFile, " (deleted)")
	if file == "" {
		return nil
	}
	if dev, ok := n.NumberAt(file); ok {
		return n.Device(dev)
	}
	dev, ok := n.boundNode(file)
	if !ok {
		return nil
	}
	return n.Device(dev)
}

// boundNode is the device number of a device node that is bind-mounted at a
// path. The mount's own number is that of the filesystem that the node lies on
// (devtmpfs), its root is the node's path there.
func (n *NodeView) boundNode(path string) (probes.Dev, bool) {
	for _, e := range n.Facts.Kubelet.BlockDirs {
		if e.Path != path {
			continue
		}
		if !e.Dev.IsZero() {
			return e.Dev, true
		}
		if dev, ok := n.NumberAt(e.To); ok {
			return dev, true
		}
	}
	mounts := n.MountsAt(path)
	for _, m := range slices.Backward(mounts) {
		if m.FSType != "devtmpfs" && m.FSType != "tmpfs" {
			continue
		}
		for _, candidate := range []string{"/dev" + m.Root, m.Root, m.Source} {
			if dev, ok := n.NumberAt(strings.TrimSuffix(candidate, "//deleted")); ok {
				return dev, true
			}
		}
	}
	return probes.Dev{}, false
}

// HoldersOf returns the devices above a device, nearest first. A holder that sysfs names and does not
// describe is returned with its name alone.
func (n *NodeView) HoldersOf(dev probes.Dev) []Holder {
	b := n.Device(dev)
	if b == nil {
		return nil
	}
	seen := map[string]bool{b.Name: true}
	queue := [][]string{{b.Name}}
	var out []Holder
	for len(queue) > 0 {
		chain := queue[0]
		queue = queue[1:]
		for _, name := range n.parents[chain[len(chain)-1]] {
			if seen[name] {
				continue
			}
			seen[name] = true
			way := append(slices.Clone(chain), name)
			device := n.ByName(name)
			if device == nil {
				device = &probes.BlockDevice{Name: name}
			}
			out = append(out, Holder{Device: device, Chain: way})
			queue = append(queue, way)
		}
	}
	return out
}

// Leaves returns the bottom disks of a device: itself when nothing is below.
func (n *NodeView) Leaves(dev probes.Dev) []*probes.BlockDevice {
	b := n.Device(dev)
	if b == nil {
		return nil
	}
	var out []*probes.BlockDevice
	seen := map[string]bool{}
	var walk func(b *probes.BlockDevice)
	walk = func(b *probes.BlockDevice) {
		if seen[b.Name] {
			return
		}
		seen[b.Name] = true
		below := n.below(b)
		for _, l := range below {
			walk(l)
		}
		if len(below) == 0 {
			out = append(out, b)
		}
	}
	walk(b)
	slices.SortFunc(out, func(a, b *probes.BlockDevice) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (n *NodeView) below(b *probes.BlockDevice) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	for lower, uppers := range n.parents {
		if slices.Contains(uppers, b.Name) {
			if l := n.ByName(lower); l != nil {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b *probes.BlockDevice) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Rests tells whether a device is another one or lies above it.
func (n *NodeView) Rests(upper, lower probes.Dev) bool {
	if upper == lower {
		return !upper.IsZero()
	}
	return slices.ContainsFunc(n.HoldersOf(lower), func(h Holder) bool { return h.Device.Dev == upper && !upper.IsZero() })
}

// Above are the devices above another one.
func (n *NodeView) Above(dev probes.Dev) []*probes.BlockDevice {
	var out []*probes.BlockDevice
	for _, h := range n.HoldersOf(dev) {
		out = append(out, h.Device)
	}
	return out
}

// PartitionsOf returns the partitions of a disk, by name.
func (n *NodeView) PartitionsOf(dev probes.Dev) []*probes.BlockDevice {
	b := n.Device(dev)
	if b == nil {
		return nil
	}
	var out []*probes.BlockDevice
	for _, p := range n.Blocks() {
		if p.Parent == b.Name && p.Name != b.Name && p.Partition > 0 {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *probes.BlockDevice) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// NoPath tells whether no disk below a map can carry I/O, as the disks are or as the
// daemon tells, which may have given all of them up.
func (n *NodeView) NoPath(m *probes.BlockDevice) bool {
	given := func(t probes.MultipathMap) bool { return t.Sysfs == m.Name && t.Pathless }
	return slices.ContainsFunc(n.Facts.Multipath.Maps, given) ||
		!slices.ContainsFunc(m.Slaves, func(name string) bool { return n.DeadPath(name) == "" })
}

// DeadPath says why a disk below a map carries no I/O, or nothing: it is gone, the kernel does
// not call it running, the daemon's checker found it dead, or it cannot be read. The state in
// sysfs alone is no sign of life: a LUN that the array took away stays running. Disks
// without device/state (NVMe namespaces, virtio) count while they exist.
func (n *NodeView) DeadPath(name string) string {
	d := n.ByName(name)
	switch {
	case n.Gone(name):
		return "gone"
	case d == nil:
		return ""
	case d.State != "" && d.State != "running" && d.State != "live":
		return d.State
	case slices.ContainsFunc(n.Facts.Multipath.Maps, func(m probes.MultipathMap) bool { return slices.Contains(m.Dead, name) }):
		return "faulty, says multipathd"
	case n.Facts.Contents[d.Dev].Err == "EIO":
		return "unreadable (EIO)"
	}
	return ""
}

// TakenOffline tells whether the kernel has given a disk up: it refuses every request
// (SDEV_OFFLINE and SDEV_TRANSPORT_OFFLINE in include/scsi/scsi_device.h).
func TakenOffline(b *probes.BlockDevice) bool {
	return b.State == "offline" || b.State == "transport-offline"
}
