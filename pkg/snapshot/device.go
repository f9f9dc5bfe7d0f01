package snapshot

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// deviceCache keeps what was found, by volume: to identify a device means to
// look at every disk of every node, and few volumes are asked for.
type deviceCache struct {
	sync.Mutex
	found map[*Volume][]VolumeDevice
}

// Devices returns the volume's devices on all probed nodes, by node.
func (x *Index) Devices(v *Volume) []VolumeDevice {
	if v == nil {
		return nil
	}
	x.devices.Lock()
	defer x.devices.Unlock()
	if d, ok := x.devices.found[v]; ok {
		return d
	}
	nodes := make([]string, 0, len(x.NodeViews))
	for name := range x.NodeViews {
		nodes = append(nodes, name)
	}
	sort.Strings(nodes)
	var out []VolumeDevice
	for _, name := range nodes {
		if d, ok := x.identify(x.NodeViews[name], v); ok {
			out = append(out, d)
		}
	}
	out = x.agreeing(v, out)
	if x.devices.found == nil {
		x.devices.found = map[*Volume][]VolumeDevice{}
	}
	x.devices.found[v] = out
	return out
}

// DeviceOn returns the volume's device on a node.
func (x *Index) DeviceOn(v *Volume, node string) (VolumeDevice, bool) {
	for _, d := range x.Devices(v) {
		if d.Node == node {
			return d, true
		}
	}
	return VolumeDevice{}, false
}

// match is one way to a volume's device.
type match struct {
	dev     probes.Dev
	how     string
	locator string
	proven  bool
	paths   []*probes.BlockDevice
}

// identify finds the device of a volume on one node: by identity first, by name
// last, by a mount only when nothing else tells.
func (x *Index) identify(view *NodeView, v *Volume) (VolumeDevice, bool) {
	if v.PV == nil && v.Longhorn == nil {
		return VolumeDevice{}, false
	}
	ways := []func() (match, bool){
		func() (match, bool) { return longhornDevice(view, v) },
		func() (match, bool) { return rbdDevice(view, v) },
		func() (match, bool) { return x.sanDevice(view, v) },
		func() (match, bool) { return x.linkedDevice(view, v) },
		func() (match, bool) { return namedDevice(view, v) },
		func() (match, bool) { return localDevice(view, v) },
		func() (match, bool) { return x.blockPathDevice(view, v) },
		func() (match, bool) { return x.mountedDevice(view, v) },
		func() (match, bool) { return x.saidDevice(view, v) },
	}
	for _, way := range ways {
		if m, ok := way(); ok {
			return x.describe(view, v, m), true
		}
	}
	return VolumeDevice{}, false
}

// describe completes a match with the rest of the stack, above the device.
func (x *Index) describe(view *NodeView, v *Volume, m match) VolumeDevice {
	d := VolumeDevice{
		Node: view.Name, View: view, Dev: m.dev, Block: view.Device(m.dev),
		How: m.how, Locator: m.locator, Proven: m.proven, Paths: m.paths,
	}
	if v.IsLonghorn() && view.DeviceNode(longhornNode(v)) != nil {
		d.NodePath = longhornNode(v)
	}
	for _, h := range view.HoldersOf(m.dev) {
		if !x.ofStack(view, v, m, h) {
			continue
		}
		d.Stack = append(d.Stack, h.Device)
		if h.Device.LoopFile == "" {
			d.Mapper = h.Device
		}
	}
	return d
}

// ofStack tells whether a device above D belongs to the volume's own stack.
func (x *Index) ofStack(view *NodeView, v *Volume, m match, h Holder) bool {
	b := h.Device
	switch {
	case b.DM != nil && strings.HasPrefix(b.DM.UUID, "CRYPT-"):
		return v.Encrypted() || !v.IsLonghorn() && view.opened(m.dev, h)
	case b.DM != nil && b.DM.UUID == "" && v.IsLonghorn():
		return b.DM.Name == v.Handle
	case b.DM != nil && strings.HasPrefix(b.DM.UUID, "mpath-"):
		return !v.IsLonghorn() && (len(m.paths) > 1 || slices.ContainsFunc(x.VolumeMounts(v, view.Name), func(o VolumeMount) bool { return o.Mount.Dev == b.Dev }))
	case b.LoopFile != "":
		p, ok := view.ParsePath(strings.TrimSuffix(b.LoopFile, " (deleted)"))
		return ok && p.Kind == BlockDev && p.PV == v.PVName()
	}
	return false
}

// opened tells whether a mapping is what a LUKS header on D itself, or on a map of its paths, was opened as. Each
// driver but Longhorn has its own word for it in the PV, or none; a filesystem on D, or a volume group between, is
// another's work.
func (n *NodeView) opened(dev probes.Dev, h Holder) bool {
	on := n.ByName(h.Chain[len(h.Chain)-2])
	if on == nil || on.Dev != dev && (on.DM == nil || !strings.HasPrefix(on.DM.UUID, "mpath-")) {
		return false
	}
	return n.Facts.Contents[on.Dev].Type == "crypto_LUKS"
}

// Above tells whether a device is one of those that belong on top of D.
func (d VolumeDevice) Above(dev probes.Dev) bool {
	return slices.ContainsFunc(d.Stack, func(b *probes.BlockDevice) bool { return b.Dev == dev && !dev.IsZero() })
}

// Numbers are D, its other paths and everything of its stack above: a
// mount of any of them is a mount of the volume.
func (d VolumeDevice) Numbers() []probes.Dev {
	out := []probes.Dev{d.Dev}
	for _, b := range append(slices.Clone(d.Paths), d.Stack...) {
		if !b.Dev.IsZero() && !slices.Contains(out, b.Dev) {
			out = append(out, b.Dev)
		}
	}
	return out
}

// Top is the device that carries the filesystem: the topmost mapper of its stack, or D.
func (d VolumeDevice) Top() probes.Dev {
	if d.Mapper != nil && !d.Mapper.Dev.IsZero() {
		return d.Mapper.Dev
	}
	return d.Dev
}
