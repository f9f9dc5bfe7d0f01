// Package devlink answers whether the disk of a volume is on a node under the name by which
// its driver looks for it.
package devlink

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Missing is a disk that is on a node under no name that the driver looks for.
type Missing struct {
	Disk     *probes.BlockDevice
	Several  bool   // more than one disk may be the volume's
	Names    string // of the disks that may be it
	How      string // by what the disk was known; empty: it only fits
	Expected string // the path where it is looked for, when the driver says it
	Said     evidence.Answer
	Is       evidence.Answer // the disk is there, and no such name leads to it
	Identity evidence.Answer // the disk says itself that it is the volume's
	text     evidence.Text
	pl       *evidence.Place
}

// Of asks about the disk of a place's volume that a pod waits for on the node.
func Of(pl *evidence.Place) (Missing, bool) {
	m := Missing{pl: pl, Said: evidence.Unseen(evidence.Lack{Need: "the driver's own word that it does not find the disk", Node: pl.Node, Why: "there is none"})}
	lh := pl.Volume.LH()
	if pl.Volume.OnRBD() || pl.Volume.IsLonghorn() && (lh == nil || lh.DataEngine == "v2" || !pl.X.BlockDeviceUp(pl.Volume)) || len(pl.Volume.WaitingOn(pl.Node)) == 0 {
		return m, false // an image is mapped when it is staged, not linked; an engine that is not up has no device
	}
	for _, t := range pl.Refused() {
		if disk.SaysNoMap(t) {
			return m, false // a map is no link to a disk: the disk may be well known
		}
		if disk.SaysUnnamed(t) || disk.NamesNoLink(pl.View, t) {
			m.text, m.Said = t, evidence.Yes(t.Evidence())
			break
		}
	}
	unheard := pl.View == nil && (len(pl.Refused()) == 0 || pl.Volume.AttachmentOn(pl.Node) == nil)
	if !attached(pl) || !m.Said.Yes() && (unheard || !late(pl)) || volume.Gone(pl).Yes() {
		return m, false
	}
	if pl.View == nil {
		m.Is = pl.Probed().Nothing()
		return m, true
	}
	if d, found := pl.X.DeviceOn(pl.Volume, pl.Node); found && d.Block != nil && d.Proven {
		m.Disk, m.Names, m.How, m.Identity = d.Block, d.Block.Name, d.How, evidence.Yes(evidence.FromNode(pl.Node, d.Locator, d.How))
		m.proven(strings.HasPrefix(d.How, "link ") || strings.HasPrefix(d.How, "/dev/") || m.used()) // of another directory than by-id (DRBD, LVM), or in the words of who uses it
	} else if lh == nil {
		m.fitting()
	}
	if blocks := pl.Tables(probes.Block); m.Disk == nil && !blocks.Complete() {
		m.Is = blocks.Nothing()
		return m, true
	}
	return m, m.Disk != nil
}

// attached tells whether the API says that the node has the disk, for longer than udev takes.
func attached(pl *evidence.Place) bool {
	va := pl.Volume.AttachmentOn(pl.Node)
	if va == nil {
		return pl.X.ReportedAttached(pl.Node, pl.Volume) || !pl.Volume.AttachRequired(pl.X)
	}
	return va.Status.Attached && va.DeletionTimestamp == nil && pl.X.Age(va.CreationTimestamp.Time) >= 30*time.Second
}

// late tells whether a pod has waited on the node for longer than the driver looks for a
// disk: then the missing name counts without the driver's word, which expires.
func late(pl *evidence.Place) bool {
	const patience = 5 * time.Minute
	va := pl.Volume.AttachmentOn(pl.Node)
	there := va != nil && pl.X.Age(va.CreationTimestamp.Time) > patience || va == nil && pl.X.ReportedAttached(pl.Node, pl.Volume)
	return there && slices.ContainsFunc(holder.WaitersOn(pl.Volume, pl.Node), func(w *corev1.Pod) bool { return pl.X.Age(w.CreationTimestamp.Time) > patience })
}

// devPath is a path below /dev, also of a host whose root a container has in a directory.
var devPath = pattern.MustCompile(`(?:^|[^\w./~-])(?:/[\w.-]+)?(/dev/[\w./:@+=-]+)`)

// proven: the disk carries the volume's identity, and the name is not there.
func (m *Missing) proven(ownLink bool) {
	view, dev, exists := m.pl.View, m.Disk.Dev, false
	paths := m.lookedFor()
	for _, path := range paths {
		m.Expected = path
		if at, ok := view.NumberAt(path); ok && (at == dev || m.pl.Volume.IsLonghorn()) { // with another number it is device-is-not-the-volume
			exists = true
		}
	}
	if m.text.Raw != "" && len(m.text.Devices) > 0 && len(paths) == 0 {
		m.Disk = nil // only a map over the disk is missed
		return
	}
	links := linksTo(view.Facts.DevLinks, dev)
	named := exists || m.Expected == "" && (len(links) > 0 || ownLink) // what the driver sees of it is another matter
	unread := m.text.Raw == "" && (len(view.Facts.DevLinks) == 0 || view.SessionOfDisk(m.Disk.Name) != nil)
	if len(view.Uses(dev)) > 0 || len(m.Disk.Holders) > 0 || named || unread {
		m.Disk = nil // somebody found it, no link of any disk was read, or the driver logs in itself
		return
	}
	m.Is = m.pl.Tables(probes.Machine, probes.Block, probes.DeviceNodes).Nothing(evidence.FromNode(view.Name, "dev/disk/by-id", orNone(links)))
}

// lookedFor are the paths by which the disk is looked for: those that the driver names. What lies below
// /dev/mapper is a name of another device over the disk (dm-crypt, multipath), unless the disk is such a
// one. Longhorn's plugin knows one name (longhorn-manager: types.LonghornDeviceDirectory).
func (m *Missing) lookedFor() []string {
	var out []string
	for _, named := range devPath.FindAllStringSubmatch(m.text.Raw, -1) {
		if path := strings.TrimRight(named[1], ".:"); !strings.HasPrefix(path, "/dev/mapper/") || strings.HasPrefix(m.Disk.Name, "dm-") {
			out = append(out, path)
		}
	}
	if len(out) == 0 && m.pl.Volume.IsLonghorn() && len(m.text.Devices) == 0 {
		out = append(out, "/dev/longhorn/"+disk.LonghornName(m.pl.Volume))
	}
	return out
}

// used tells whether it was tried to mount the disk by a path that leads to it: the driver found it, whatever
// the path is (a driver of LVM makes device nodes of its own below /dev).
func (m *Missing) used() bool {
	return m.text.Raw == "" && slices.ContainsFunc(m.pl.Refused(), func(t evidence.Text) bool {
		return t.MountSource != "" && slices.ContainsFunc(devPath.FindAllStringSubmatch(t.Raw, -1), func(named []string) bool {
			at, ok := m.pl.View.NumberAt(strings.TrimRight(named[1], ".:"))
			return ok && at == m.Disk.Dev
		})
	})
}

// inOtherHands tells whether a disk bears the mark of a group of disks, on which volumes lie, or
// of an encryption that the volume has not: no driver looks for the disk itself.
func (m *Missing) inOtherHands(b *probes.BlockDevice) bool {
	holds := m.pl.View.Facts.Contents[b.Dev].Type
	return slices.Contains([]string{"LVM2_member", "linux_raid_member", "zfs_member"}, holds) || holds == "crypto_LUKS" && !m.pl.Volume.Encrypted()
}

// fits tells whether a disk has the volume's size. The size of what a pod names itself nobody knows: then
// it must have come since the volume was attached.
func (m *Missing) fits(b *probes.BlockDevice, size int64) bool {
	if size != 0 {
		return b.Sectors*512 == size
	}
	va := m.pl.Volume.AttachmentOn(m.pl.Node)
	return va != nil && slices.ContainsFunc(m.pl.View.KernelLines(), func(l probes.KernelLine) bool {
		return l.At.After(va.CreationTimestamp.Add(-time.Minute)) && strings.Contains(l.Text, "["+b.Name+"] Attached SCSI disk")
	})
}

// fitting: no disk carries an identity that could be compared, and one that nobody uses fits.
func (m *Missing) fitting() {
	v, view := m.pl.Volume, m.pl.View
	size := disk.SizeOf(v)
	if disk.Compare(v, view).Match || disk.SessionOf(m.pl) != "" || size == 0 && !m.withoutIdentifiers() || m.text.Raw == "" && !m.withoutIdentifiers() {
		return
	}
	var facts []report.Evidence
	var names []string
	for _, b := range view.Blocks() {
		if !disk.Whole(b) || disk.System(view, b) || !disk.Idle(view, b) || !m.fits(b, size) || disk.OwnIdentity(view, b) || m.inOtherHands(b) {
			continue
		}
		if m.Disk == nil {
			m.Disk = b
		}
		names = append(names, b.Name)
		facts = append(facts, evidence.FromNode(view.Name, "sys/class/block/"+b.Name+"/size", fmt.Sprint(b.Sectors)))
	}
	if m.Disk == nil {
		return
	}
	m.Several, m.Names = len(names) > 1, strings.Join(names, " or ")
	facts = append(facts, appeared(view.Name, view.KernelLines(), names)...)
	m.Is = m.pl.Tables(probes.Machine, probes.Block, probes.DeviceNodes).Nothing(append(facts, evidence.FromNode(view.Name, "dev/disk/by-id", orNone(linksTo(view.Facts.DevLinks, m.Disk.Dev))))...)
	m.Identity = evidence.Unseen(evidence.Lack{Need: "an identity of the disk that names the volume", Node: view.Name, Why: "the node shows none"})
}
