package disk

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// kernelName is a name that the kernel gives in the order of detection.
var kernelName = pattern.MustCompile(`^/dev/(?:[shv]d[a-z]+|xvd[a-z]+|nvme\d+n\d+)(?:p?\d+)?$`)

// KernelName tells whether a path is one that may mean another disk after the next boot or attach.
func KernelName(path string) bool { return kernelName.MatchString(path) }

// Record is a kernel name that an object keeps for a volume, and the disk that has the
// name now.
type Record struct {
	Name string
	Now  *probes.BlockDevice
	Is   evidence.Answer
}

// Recorded are the kernel names that the PV and the node's status keep for the place's
// volume, as far as a disk has such a name now.
func Recorded(pl *evidence.Place) []Record {
	var out []Record
	add := func(name, object, field string) {
		if !kernelName.MatchString(name) || pl.View == nil {
			return
		}
		dev, ok := pl.View.NumberAt(name)
		if b := pl.View.Device(dev); ok && b != nil {
			out = append(out, Record{name, b, evidence.Yes(evidence.FromAPI(object, field, name))})
		}
	}
	if pv := pl.Volume.PV; pv != nil {
		if c := pv.Spec.CSI; c != nil {
			for _, k := range slices.Sorted(maps.Keys(c.VolumeAttributes)) {
				add(c.VolumeAttributes[k], "PersistentVolume "+pv.Name, "spec.csi.volumeAttributes."+k)
			}
		}
		if l := pv.Spec.Local; l != nil {
			add(l.Path, "PersistentVolume "+pv.Name, "spec.local.path")
		}
	}
	for _, a := range listed(pl, pl.Volume) {
		add(a.DevicePath, "Node "+pl.Node, "status.volumesAttached["+string(a.Name)+"].devicePath")
	}
	return out
}

// listed are the entries of a volume in the node's status, by their names.
func listed(pl *evidence.Place, v *snapshot.Volume) []corev1.AttachedVolume {
	n := pl.X.Node(pl.Node)
	if n == nil {
		return nil
	}
	own := evidence.Keep(n.Status.VolumesAttached, func(a corev1.AttachedVolume) bool { return slices.Contains(v.UniqueNames(), string(a.Name)) })
	slices.SortFunc(own, func(a, b corev1.AttachedVolume) int { return cmp.Compare(a.Name, b.Name) })
	return own
}

// Right is the disk that is the place's volume by something better than a recorded name,
// and what says so.
type Right struct {
	Disk *probes.BlockDevice
	How  string
	Is   evidence.Answer
	Last evidence.Answer // an identity of the disk that nothing else has
}

// RightDisk finds the volume's disk: by its persistent link or identity, else by its LUN,
// else as the only one that is left over while the recorded name is another volume's.
func RightDisk(pl *evidence.Place, r Record) (Right, bool) {
	if d, fact, ok := byIdentity(pl); ok {
		whole := parentOf(pl.View, r.Now)
		return Right{Disk: d, How: fact.Text, Is: evidence.When(parentOf(pl.View, d) != whole, fact), Last: evidence.Yes(fact)}, true
	}
	unknown := evidence.Unseen(evidence.Lack{Need: "a serial or WWID of either disk", Node: pl.Node, Why: "the node shows none"})
	owner := ownerOf(pl, r.Now)
	if SizeOf(pl.Volume) == 0 || owner == nil && r.Now.Sectors*512 == SizeOf(pl.Volume) {
		return Right{}, false
	}
	for _, lun := range lunsOf(pl) {
		if have := LUN(r.Now); have == "" || have == lun {
			continue
		}
		for _, b := range leftOver(pl) {
			if LUN(b) == lun {
				fact := evidence.FromNode(pl.Node, "sys/class/block/"+b.Name, "LUN "+lun+" ("+b.HCTL+")")
				return Right{Disk: b, How: "LUN " + lun, Is: evidence.Yes(fact), Last: unknown}, true
			}
		}
	}
	free, hosts := leftOver(pl), tooSmall(pl, r.Now)
	if owner == nil && hosts.Text == "" || len(free) != 1 || !fits(pl, free[0]) {
		return Right{}, false
	}
	facts := []report.Evidence{hosts, evidence.FromNode(pl.Node, "sys/class/block/"+free[0].Name+"/size", strconv.FormatInt(free[0].Sectors, 10)+" sectors, as the volume's; nobody uses it")}
	if owner != nil {
		for _, a := range listed(pl, owner) {
			if a.DevicePath == r.Name {
				facts = append(facts, evidence.FromAPI("Node "+pl.Node, "status.volumesAttached["+string(a.Name)+"].devicePath", r.Name))
			}
		}
	}
	return Right{Disk: free[0], How: "the only unused disk of its size", Is: evidence.Yes(facts...), Last: unknown}, true
}

// tooSmall quotes where the node itself has a disk mounted, or what lies on it, that cannot be the volume.
func tooSmall(pl *evidence.Place, b *probes.BlockDevice) report.Evidence {
	if b.Sectors == 0 || b.Sectors*512 >= SizeOf(pl.Volume) {
		return report.Evidence{}
	}
	for _, u := range usesOf(pl.View, b) {
		if _, ok := pl.View.ParsePath(u.Mount.Point); !ok && u.Init {
			return evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/size", strconv.FormatInt(b.Sectors, 10)+" sectors, fewer than the volume's; mounted at "+u.Mount.Point)
		}
	}
	return report.Evidence{}
}

// Renumbered asks whether a recorded kernel name of the volume leads to this disk, and the
// volume's own is another one.
func Renumbered(pl *evidence.Place, dev probes.Dev) evidence.Answer {
	for _, r := range Recorded(pl) {
		if right, ok := RightDisk(pl, r); ok && r.Now.Dev == dev && right.Is.Yes() {
			return right.Is
		}
	}
	return evidence.No()
}

// byIdentity is the disk where the volume's persistent link leads, else the one that was
// identified by more than a mount.
func byIdentity(pl *evidence.Place) (*probes.BlockDevice, report.Evidence, bool) {
	if pl.Volume.PV != nil && pl.Volume.PV.Spec.CSI != nil {
		attrs := pl.Volume.PV.Spec.CSI.VolumeAttributes
		for _, k := range slices.Sorted(maps.Keys(attrs)) {
			l := pl.View.DevLink(attrs[k])
			if l == nil || !strings.HasPrefix(attrs[k], "/dev/disk/by-") || pl.View.Device(l.Dev) == nil {
				continue
			}
			return pl.View.Device(l.Dev), evidence.FromNode(pl.Node, strings.TrimPrefix(l.Path, "/"), "-> "+l.Target), true
		}
	}
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || !d.Proven || d.Block == nil || strings.Contains(d.How, "mount of") || kernelName.MatchString(strings.TrimPrefix(d.How, "device ")) {
		return nil, report.Evidence{}, false
	}
	return d.Block, evidence.FromNode(pl.Node, d.Locator, d.How), true
}

// usesOf are the mounts of a disk and of all that lies on it.
func usesOf(view *snapshot.NodeView, b *probes.BlockDevice) []snapshot.Use {
	var out []snapshot.Use
	for _, d := range stack(view, b.Dev) {
		out = append(out, view.Uses(d.Dev)...)
	}
	return out
}

// ownerOf is another volume that has a disk mounted.
func ownerOf(pl *evidence.Place, b *probes.BlockDevice) *snapshot.Volume {
	for _, u := range usesOf(pl.View, b) {
		if o := pl.X.VolumeOfPath(pl.Node, u.Mount.Point); o != nil && o != pl.Volume {
			return o
		}
	}
	return nil
}

// Owner names the other volume that has a disk mounted, or is empty.
func (r Record) Owner(pl *evidence.Place) string {
	if o := ownerOf(pl, r.Now); o != nil {
		return o.PVName()
	}
	return ""
}

// lunsOf are the LUNs that objects state for the volume: the attacher's metadata, and the
// number that in-tree Azure writes where others write a path.
func lunsOf(pl *evidence.Place) []string {
	var out []string
	if va := pl.Volume.AttachmentOn(pl.Node); va != nil {
		for k, v := range va.Status.AttachmentMetadata {
			if strings.EqualFold(k, "lun") {
				out = append(out, v)
			}
		}
	}
	for _, a := range listed(pl, pl.Volume) {
		if _, err := strconv.Atoi(a.DevicePath); err == nil {
			out = append(out, a.DevicePath)
		}
	}
	return out
}

// LUN is the last number of a disk's address, or empty.
func LUN(b *probes.BlockDevice) string {
	if i := strings.LastIndex(b.HCTL, ":"); i >= 0 {
		return b.HCTL[i+1:]
	}
	return ""
}

// leftOver are the disks of the volume's size that nobody uses.
func leftOver(pl *evidence.Place) []*probes.BlockDevice {
	return evidence.Keep(pl.View.Blocks(), func(b *probes.BlockDevice) bool {
		return Whole(b) && b.Sectors*512 == SizeOf(pl.Volume) && Idle(pl.View, b) && !System(pl.View, b)
	})
}

// fits tells whether what is on a disk, where that was read, can be the volume's
// filesystem.
func fits(pl *evidence.Place, b *probes.BlockDevice) bool {
	c, read := pl.View.Facts.Contents[b.Dev]
	want := pl.Volume.FSType()
	return !read || c.Type == "" || want == "" || c.Type == want
}

// parentOf is the disk of a partition, or the disk itself.
func parentOf(view *snapshot.NodeView, b *probes.BlockDevice) *probes.BlockDevice {
	if b.Partition > 0 {
		if parent := view.ByName(b.Parent); parent != nil {
			return parent
		}
	}
	return b
}

// Complained asks for a fresh text of the place about a failure: whatever its words, a
// volume that works says nothing.
func Complained(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return !t.Ordinary && t.Node == pl.Node })
}
