// Package filesystem answers questions about the filesystem of a volume on a node: which
// device carries it, what the kernel and the tools say of it, and what is free in it.
package filesystem

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Fresh is how long a line of the kernel or of a daemon speaks of the present.
const Fresh = 10 * time.Minute

// Carrier is the device that carries the filesystem of a place's volume: the disk, or the
// mapper or multipath map that rightfully lies above it.
type Carrier struct {
	Place  *evidence.Place
	Device snapshot.VolumeDevice
	Block  *probes.BlockDevice
	Uses   []snapshot.Use // mounts of it in every namespace
}

// Looked says whether the disks and mounts were read of the node that has the filesystem of
// a volume.
func Looked(pl *evidence.Place) evidence.Reading {
	if pl.Volume.Block() || !slices.Contains(pl.X.DeviceNodes(pl.Volume), pl.Node) {
		return evidence.Reading{}
	}
	return pl.Tables(probes.Block, probes.Mounts)
}

// CarrierOf finds it, on a node that should have the volume's disk or still mounts it.
func CarrierOf(pl *evidence.Place) (Carrier, bool) {
	mounts := pl.X.VolumeMounts(pl.Volume, pl.Node)
	if pl.View == nil || len(mounts) == 0 && !slices.Contains(pl.X.DeviceNodes(pl.Volume), pl.Node) {
		return Carrier{}, false
	}
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || d.Block == nil {
		return Carrier{}, false
	}
	c := Carrier{Place: pl, Device: d, Block: pl.View.Device(d.Top())}
	if c.Block != nil {
		for _, h := range pl.View.HoldersOf(c.Block.Dev) { // the driver works with the map over it
			if slices.Contains(disk.ToldOn(pl).Disks, h.Device) {
				c.Block = h.Device
			}
		}
	}
	for _, n := range d.Numbers() {
		c.Uses = append(c.Uses, pl.View.Uses(n)...)
	}
	if len(c.Uses) > 0 {
		// What is mounted carries the filesystem.
		if b := pl.View.Device(c.Uses[0].Mount.Dev); b != nil {
			c.Block = b
		}
	}
	for _, m := range mounts { // btrfs has a device number of its own: by path
		if m.Mount.FSType == "btrfs" && m.Mount.Dev.Anonymous() {
			c.Uses = append(c.Uses, m.Use)
		}
	}
	if c.Block == nil {
		c.Block = d.Block
	}
	return c, true
}

// KubeletCarrier is the device below the kubelet's directory of the place's node.
func KubeletCarrier(pl *evidence.Place) (Carrier, bool) {
	m := pl.View.Containing(pl.View.KubeletRoot())
	if m == nil {
		return Carrier{}, false
	}
	b := pl.View.Device(m.Dev)
	uses := slices.DeleteFunc(pl.View.InitUses(m.Dev), func(u snapshot.Use) bool { return u.Mount.Point != m.Point })
	return Carrier{Place: pl, Device: snapshot.VolumeDevice{Node: pl.Node, View: pl.View, Dev: m.Dev, Block: b}, Block: b, Uses: uses}, b != nil
}

// Mounted asks whether a namespace of the node mounts it.
func (c Carrier) Mounted() evidence.Answer {
	facts := evidence.Each(c.Uses, c.MountLine)
	return c.Place.Mounts().Found(facts...)
}

// MountLine quotes the line of a mount table.
func (c Carrier) MountLine(u snapshot.Use) report.Evidence {
	return evidence.FromMount(c.Place.Node, u.NS, u.Mount)
}

// Content is what a read of the device showed, and whether it was read.
func (c Carrier) Content() (probes.Content, bool) {
	x, read := c.Place.View.Facts.Contents[c.Block.Dev]
	return x, read
}

// Shows quotes parts of what a read of the device showed.
func (c Carrier) Shows(text ...string) report.Evidence {
	return evidence.FromNode(c.Place.Node, "@content/"+c.Block.Dev.String(), strings.TrimSpace(strings.Join(text, " ")))
}

// Numbers are those of the device and of the disk below it.
func (c Carrier) Numbers() []probes.Dev {
	return append(c.Device.Numbers(), c.Block.Dev)
}

// Name is how people know the device: its kernel name, number and path.
func (c Carrier) Name() string {
	s := fmt.Sprintf("%s (%s)", c.Block.Name, c.Block.Dev)
	if c.Device.NodePath != "" {
		s += ", " + c.Device.NodePath + ","
	}
	return s
}

// gone tells whether the device does not answer any more.
func (c Carrier) gone() bool {
	return snapshot.TakenOffline(c.Block) || c.Block.Sectors == 0
}

// means tells whether a path leads to this device, or nowhere that was seen.
func (c Carrier) means(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool {
		dev, ok := c.Place.View.NumberAt(path)
		return ok && !slices.Contains(c.Numbers(), dev)
	})
}

// FSType is the type of the filesystem, by its mount or by what was read.
func (c Carrier) FSType() string {
	if len(c.Uses) > 0 {
		return c.Uses[0].Mount.FSType
	}
	return c.Place.View.Facts.Contents[c.Block.Dev].Type
}

// since is the moment, in microseconds since boot, from which lines under the device's
// name speak of what is there now: when the disk was attached or mapped under that name,
// and when its filesystem was mounted. A name is given to one disk after another.
func (c Carrier) since() int64 {
	at, kinds := disk.AttachedAt(c.Place.View, c.Block), []string{kmsg.RBDMapped}
	if len(c.Uses) > 0 {
		kinds = append(kinds, kmsg.Mounted, kmsg.Recovered)
	}
	for _, l := range c.Place.View.KernelLines(kinds...) {
		if slices.Contains(l.Names, c.Block.Name) {
			at = max(at, l.Micros)
		}
	}
	return at
}

// Lines are the kernel's lines of some kinds about the device since then.
func (c Carrier) Lines(kinds ...string) []probes.KernelLine {
	since, came := c.since(), c.attached()
	return evidence.Keep(c.Place.View.KernelLines(kinds...), func(l probes.KernelLine) bool {
		return l.Micros >= since && slices.Contains(l.Names, c.Block.Name) && (l.At.IsZero() || !l.At.Before(came))
	})
}

// attached is when the volume was to be attached to the node, with a minute for clocks that
// differ: the name was another disk's before. Of one that is mounted there it says nothing:
// its VolumeAttachment may have been made anew.
func (c Carrier) attached() time.Time {
	va := c.Place.Volume.AttachmentOn(c.Place.Node)
	if waiting := c.Place.Volume.WaitingOn(c.Place.Node); va == nil && len(waiting) > 0 && len(c.Uses) == 0 && !evidence.Resource(c.Place.X, "storage.k8s.io/volumeattachments").Complete() {
		return waiting[0].Pod.CreationTimestamp.Time // no sooner, as far as is known
	}
	if va == nil || len(c.Uses) > 0 || va.CreationTimestamp.IsZero() {
		return time.Time{}
	}
	return va.CreationTimestamp.Add(-time.Minute)
}

// failedRequests are lines about requests of the device that failed, not about checksums:
// XFS calls a bad checksum a "metadata I/O error", with the errors EFSBADCRC (74) and
// EFSCORRUPTED (117) instead of EIO (5).
func (c Carrier) failedRequests() []probes.KernelLine {
	return slices.DeleteFunc(c.Lines(kmsg.IOError, kmsg.OfflineDevice, kmsg.MediumError, kmsg.BeyondEnd), func(l probes.KernelLine) bool {
		return strings.Contains(l.Text, "error 74") || strings.Contains(l.Text, "error 117") || strings.Contains(l.Text, "error -117") || strings.Contains(l.Text, "error -74")
	})
}

// KernelLine is what a kernel's own line would have said that was not had.
func (c Carrier) KernelLine(what string) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "node/" + c.Place.Node + "/" + string(probes.KernelLog), Node: c.Place.Node, Why: "the kernel's own line " + what})
}

// Path is by which path the driver opens the device.
func (c Carrier) Path() string {
	switch {
	case c.Device.NodePath != "" && c.Block.Dev == c.Device.Dev:
		return c.Device.NodePath
	case c.Block.DM != nil:
		return "/dev/mapper/" + c.Block.DM.Name
	}
	return "/dev/" + c.Block.Name
}
