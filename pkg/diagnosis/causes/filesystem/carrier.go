// Package filesystem holds the rules of what lies on the device: damage, and what
// the kernel did about it.
package filesystem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// carrier is the device that carries a volume's filesystem on one node: the disk,
// or the mapper or multipath map that rightfully lies above it.
type carrier struct {
	view   *snapshot.NodeView
	volume *snapshot.Volume
	device snapshot.VolumeDevice
	block  *probes.BlockDevice
	uses   []snapshot.Use // mounts of it in every namespace
}

// carriers are the volume's filesystems on the probed nodes, the node that should
// have the device first.
func carriers(p *diagnosis.Pass, v *snapshot.Volume) []carrier {
	var out []carrier
	for _, node := range blockNodes(p, v) {
		view := p.View(node)
		if view == nil {
			continue
		}
		d, ok := p.DeviceOn(v, node)
		if !ok || d.Block == nil {
			continue
		}
		c := carrier{view: view, volume: v, device: d, block: view.Device(d.Top())}
		for _, n := range d.Numbers() {
			c.uses = append(c.uses, view.Uses(n)...)
		}
		if len(c.uses) > 0 {
			// What is mounted carries the filesystem.
			if b := view.Device(c.uses[0].Mount.Dev); b != nil {
				c.block = b
			}
		}
		c.uses = append(c.uses, btrfsUses(p, v, view)...)
		if c.block == nil {
			c.block = d.Block
		}
		out = append(out, c)
	}
	return out
}

// btrfsUses finds mounts by path: btrfs has a device number of its own.
func btrfsUses(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) []snapshot.Use {
	var out []snapshot.Use
	for _, m := range p.VolumeMounts(v, view.Name) {
		if m.Mount.FSType == "btrfs" && m.Mount.Dev.Anonymous() {
			out = append(out, m.Use)
		}
	}
	return out
}

// blockNodes are the nodes that should have the volume's disk, and those that
// still have a mount of it.
func blockNodes(p *diagnosis.Pass, v *snapshot.Volume) []string {
	nodes := slices.Clone(p.DeviceNodes(v))
	for _, n := range p.OtherNodes(v) {
		if !slices.Contains(nodes, n) && len(p.VolumeMounts(v, n)) > 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// since is the moment, in microseconds since boot, from which lines under the
// device's name speak of what is there now: when the disk was attached under that
// name, and when its filesystem was mounted. A name is given to one disk after another.
func (c carrier) since() int64 {
	at := int64(0)
	for _, l := range c.view.KernelLines(kmsg.SCSIAttached) {
		if strings.Contains(l.Text, "["+c.block.Name+"]") {
			at = l.Micros
		}
	}
	if len(c.uses) == 0 {
		return at
	}
	for _, l := range c.view.KernelLines(kmsg.Mounted, kmsg.Recovered) {
		if slices.Contains(l.Names, c.block.Name) && l.Micros > at {
			at = l.Micros
		}
	}
	return at
}

// lines are the kernel's lines of some kinds about the device since then.
func (c carrier) lines(kinds ...string) []probes.KernelLine {
	since := c.since()
	var out []probes.KernelLine
	for _, l := range c.view.KernelLines(kinds...) {
		if l.Micros >= since && slices.Contains(l.Names, c.block.Name) {
			out = append(out, l)
		}
	}
	return out
}

// failedRequests are lines about requests of the device that failed, not about
// checksums: XFS calls a bad checksum a "metadata I/O error", with the errors
// EFSBADCRC (74) and EFSCORRUPTED (117) instead of EIO (5).
func (c carrier) failedRequests() []probes.KernelLine {
	var out []probes.KernelLine
	for _, l := range c.lines(kmsg.IOError, kmsg.OfflineDevice, kmsg.MediumError, kmsg.BeyondEnd) {
		if strings.Contains(l.Text, "error 74") || strings.Contains(l.Text, "error 117") || strings.Contains(l.Text, "error -117") || strings.Contains(l.Text, "error -74") {
			continue
		}
		out = append(out, l)
	}
	return out
}

// about ties a finding to the filesystem, its disk and the pods that use it there.
func (c carrier) about(f *diagnosis.Finding) {
	f.On(c.volume).Located(c.view.Name)
	f.Device(c.view.Name, c.block.Dev)
	for _, n := range c.device.Numbers() {
		f.Device(c.view.Name, n)
	}
	for _, x := range c.volume.LiveConsumersOn(c.view.Name) {
		f.Pod(x.Pod)
	}
}

// pods names the live consumers on the node.
func (c carrier) pods() string {
	var names []string
	for _, x := range c.volume.LiveConsumersOn(c.view.Name) {
		names = append(names, x.Pod.Namespace+"/"+x.Pod.Name)
	}
	return strings.Join(names, ", ")
}

// name is how people know the device: its kernel name, number and path.
func (c carrier) name() string {
	s := fmt.Sprintf("%s (%s)", c.block.Name, c.block.Dev)
	if c.device.NodePath != "" {
		s += ", " + c.device.NodePath + ","
	}
	return s
}

// volumeName is the name that people use for the volume.
func volumeName(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil {
		return lh.Name
	}
	if v.PVName() != "" {
		return v.PVName()
	}
	return v.Spoken()
}
