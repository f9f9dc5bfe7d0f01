package volume

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Behind is the volume's device on a node where no pod uses it.
type Behind struct {
	pl     *evidence.Place
	Device snapshot.VolumeDevice
	Stage  *snapshot.Use // its staging mount in the host's table; nil: it is only mapped
}

// Deserted tells whether a disk's volume has no pod that lives on the place's node, none there that
// the kubelet still takes down, and nobody who waits for it there, under whichever of its names. That
// it is called shared proves nothing: access modes make no filesystem one of a cluster.
func Deserted(pl *evidence.Place) bool {
	v := pl.Volume
	wanted := func(o *snapshot.Volume) bool {
		going := slices.ContainsFunc(o.Terminating(), func(c *snapshot.Consumer) bool { return c.Node() == pl.Node })
		return going || len(o.LiveConsumersOn(pl.Node)) > 0 || Awaited(pl.X, o, pl.Node)
	}
	return !v.RegularRWX() && !readers(v) && !disk.OfCluster(v.FSType()) && !wanted(v) && !slices.ContainsFunc(pl.X.Others(v), wanted)
}

// BehindOf finds the device that was left; false when it is not there, or is mounted below
// a pod's directory (pod-directory-orphaned).
func BehindOf(pl *evidence.Place) (Behind, bool) {
	if pl.View == nil {
		return Behind{}, false
	}
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	b := Behind{pl: pl, Device: d}
	if !ok || d.Block == nil {
		return b, false
	}
	for _, dev := range d.Numbers() {
		for _, u := range pl.View.InitUses(dev) {
			if strings.Contains(u.Mount.Point, "/pods/") || disk.OfCluster(u.Mount.FSType) {
				return b, false // a filesystem of a cluster is in nobody's way
			}
			if b.Stage == nil {
				b.Stage = &u
			}
		}
	}
	return b, true
}

// Left asks whether the node kept it: the staging mount, or else a map, login or connection
// that the node made itself and that no attachment wants. A session of Longhorn proves
// nothing, nor does a device in /sys of a kernel that other nodes have, too.
func (b Behind) Left() evidence.Answer {
	how := evidence.FromNode(b.pl.Node, b.Device.Locator, b.Device.How)
	switch {
	case b.Stage != nil:
		return evidence.Yes(evidence.FromNode(b.pl.Node, "proc/1/mountinfo", b.Stage.Mount.Raw), how)
	case b.pl.Volume.Longhorn != nil || !b.Device.Proven || !b.ownMap() || b.pl.X.SharesKernel(b.pl.View) || b.pl.X.UnseenMate(b.pl.View) != "":
		return evidence.No()
	}
	return evidence.All(evidence.Yes(how), Unattached(b.pl))
}

// ownMap tells whether it is the node that made the device: by a map, a login or a
// connection of its own. A disk that the backend attached is the backend's to take away,
// and a replicated one is on every node that has a copy of it, or a vote.
func (b Behind) ownMap() bool {
	view := b.pl.View
	return slices.ContainsFunc(append(slices.Clone(b.Device.Paths), b.Device.Block), func(d *probes.BlockDevice) bool {
		client := slices.ContainsFunc([]string{"rbd", "nbd", "dm-", "loop"}, func(s string) bool { return strings.HasPrefix(d.Name, s) })
		fabric := slices.ContainsFunc(view.Facts.NVMe, func(c probes.NVMeSubsystem) bool {
			return c.Transport != "" && c.Transport != "pcie" && slices.Contains(c.Namespaces, d.Name)
		})
		return client || fabric || view.SessionOfDisk(d.Name) != nil
	})
}

// Unattached asks whether Kubernetes does not want the volume on the place's node any more: no
// VolumeAttachment there, or one that has been terminating for two minutes. Drivers without
// attachments (in-tree rbd, iscsi) have none by nature.
func Unattached(pl *evidence.Place) evidence.Answer {
	va := pl.Volume.AttachmentOn(pl.Node)
	if va != nil {
		return evidence.When(va.DeletionTimestamp != nil && pl.X.Age(va.DeletionTimestamp.Time) > Handover)
	}
	return evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Nothing()
}

// Kept asks whether something named keeps the device, which is then the cause: another
// namespace, a holder, an opener, a filesystem without a mount.
func (b Behind) Kept() evidence.Answer {
	view, on := b.pl.View, b.pl.Node
	for _, dev := range b.Device.Numbers() {
		for _, u := range view.ForeignUses(dev) {
			if !slices.ContainsFunc(view.InitUses(dev), func(own snapshot.Use) bool { // a copy that init's unmount does not reach
				return u.Mount.Master != 0 || u.Mount.Shared != 0 && u.Mount.Shared == own.Mount.Shared
			}) {
				return evidence.Yes(evidence.FromMount(on, u.NS, u.Mount))
			}
		}
		for _, o := range view.Openers(dev) {
			if !disk.Passing(b.pl.X, b.pl.Volume, on, o.Process) {
				return evidence.Yes(evidence.FromNode(on, o.Descriptor.Path, o.Descriptor.Target))
			}
		}
	}
	for _, h := range view.HoldersOf(b.Device.Dev) {
		if !b.Device.Above(h.Device.Dev) {
			return evidence.Yes(evidence.FromNode(on, "sys/class/block/"+b.Device.Block.Name+"/holders", h.Device.Name))
		}
	}
	if refused := disk.Refused(view, b.Device.Block); b.Stage == nil && refused.Yes() { // a pool of ZFS, a target's backstore
		return refused
	}
	if s := view.Superblock(b.Device.Top()); s != nil && len(view.Uses(b.Device.Top())) == 0 {
		return evidence.Yes(evidence.FromNode(on, s.Locator, "the filesystem is alive"))
	}
	return b.pl.Tables(probes.Block, probes.Mounts, probes.Descriptors).And(node.Whole(b.pl.X, on, probes.Mounts)).Found()
}

// Dead asks whether what is mounted is a multipath map without a usable path, or such a map lies on what is only mapped.
func (b Behind) Dead() evidence.Answer {
	dead := func(m *probes.BlockDevice) bool { return disk.IsMapped(m, "mpath-") && b.pl.View.NoPath(m) }
	if b.Stage != nil {
		return evidence.When(dead(b.pl.View.Device(b.Stage.Mount.Dev)))
	}
	// The map is what is left over only where nobody wants the volume.
	return evidence.All(evidence.When(slices.ContainsFunc(b.Maps(), dead)), b.pl.Consumers().Nothing())
}

// Maps are the multipath maps that lie on the device.
func (b Behind) Maps() []*probes.BlockDevice {
	return evidence.Keep(b.Device.Stack, func(m *probes.BlockDevice) bool { return disk.IsMapped(m, "mpath-") })
}

// Disks are the device's paths.
func (b Behind) Disks() []*probes.BlockDevice {
	if len(b.Device.Paths) > 0 {
		return b.Device.Paths
	}
	return []*probes.BlockDevice{b.Device.Block}
}

// Company are the node's other disks at the targets of the device: a logout would take them along.
func (b Behind) Company() []string {
	var out []string
	for _, d := range b.Disks() {
		s := b.pl.View.SessionOfDisk(d.Name)
		if s == nil {
			continue
		}
		for _, o := range b.pl.View.SessionsOf(s.Target) {
			for _, name := range o.Disks {
				own := slices.ContainsFunc(b.Disks(), func(d *probes.BlockDevice) bool { return d.Name == name })
				if !own && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// Reused asks whether the number was given to another volume's disk under the mount, or the
// kubelet counts a dead mount with the same source (GetDeviceMountRefs in mount-utils).
func (b Behind) Reused() evidence.Answer {
	if b.Stage == nil {
		return evidence.No()
	}
	view, m := b.pl.View, b.Stage.Mount
	namesake := slices.ContainsFunc(view.VolumePaths(), func(o snapshot.VolumeMount) bool {
		return o.Mount.Source == m.Source && o.Mount.Dev != m.Dev && view.Dead(o.Mount.Dev)
	})
	if namesake || disk.OwnerOf(b.pl.X, b.pl.Volume, b.pl.Node, m.Dev) != nil {
		return evidence.Yes()
	}
	if b.StagedByAnother() {
		return evidence.Unseen(evidence.Lack{Need: "node/" + b.pl.Node + "/wwid", Node: b.pl.Node, Why: "it is mounted where another volume is staged, and no WWID tells that the disk is this volume's"})
	}
	return evidence.No()
}

// StagedByAnother tells whether the device is mounted at the staging path of another volume handle,
// and is called this volume's by its number only: no node that has the volume shows its WWID.
func (b Behind) StagedByAnother() bool {
	if b.Stage == nil {
		return false
	}
	x, v := b.pl.X, b.pl.Volume
	if targets, _ := v.ISCSITargets(b.pl.Node); len(targets) == 0 { // what it is found by names the disk itself
		return false
	}
	at := func(m snapshot.VolumeMount) bool { return m.Mount.Point == b.Stage.Mount.Point }
	foreign := slices.ContainsFunc(b.pl.View.VolumePaths(), func(m snapshot.VolumeMount) bool { return at(m) && m.Path.HandleHash != "" })
	for _, o := range append(x.Others(v), v) {
		foreign = foreign && !slices.ContainsFunc(x.VolumeMounts(o, b.pl.Node), at)
	}
	return foreign && !slices.ContainsFunc(x.Devices(v), func(d snapshot.VolumeDevice) bool { return d.Node != b.pl.Node && d.SameWWID(b.Device) })
}

// retryTime is how long the kubelet waits between two tries at most, with the call itself
// (maxDurationBeforeRetry, 2m2s).
const retryTime = 4 * time.Minute

// Pending tells why a mount may be of another disk, or may yet go by itself, or has another reason
// to stay, as a sentence: the disk's identity speaks against it, nobody has wanted it elsewhere for longer than the
// kubelet's retries take, or the driver that has to unmount it is not registered.
func (b Behind) Pending() string {
	x, v, on := b.pl.X, b.pl.Volume, b.pl.Node
	if b.Device.Unlike != "" {
		return "But " + b.Device.Unlike + "."
	}
	if registered, known := x.HasDriver(on, v.CSIName()); b.Stage != nil && v.CSIName() != "" && known && !registered {
		return "The driver is not registered on that node, so nobody can unmount it there."
	}
	if b.Stage == nil || !x.ReportedInUse(on, v) {
		return ""
	}
	if va := v.AttachmentOn(on); va != nil && va.DeletionTimestamp != nil && x.Age(va.DeletionTimestamp.Time) > retryTime {
		return ""
	}
	if slices.ContainsFunc(v.Waiting(), func(w *snapshot.Consumer) bool { return x.Age(w.Pod.CreationTimestamp.Time) > retryTime }) {
		return ""
	}
	return "The kubelet there still lists the volume as in use, so its own unmount may be under way."
}

// Also is another node that has the place's disk mounted for a pod at the same time, or empty.
func Also(pl *evidence.Place) string {
	for _, o := range pl.X.Devices(pl.Volume) {
		if o.Node != pl.Node && len(o.View.InitUses(o.Dev)) > 0 && len(pl.Volume.LiveConsumersOn(o.Node)) > 0 {
			return o.Node
		}
	}
	return ""
}

// Session is the iSCSI session of the device with its first portal, or nil.
func (b Behind) Session() (target, address, port string) {
	s := b.pl.View.SessionOfDisk(b.Device.Block.Name)
	if s == nil || len(s.Connections) == 0 {
		return "", "", ""
	}
	c := s.Connections[0]
	if port = c.PersistentPort; port == "" {
		port = "3260"
	}
	return s.Target, c.PersistentAddress, port
}
