// Package local answers questions about volumes that are a directory or a disk of one
// node: is the disk mounted that the directory should be, is the pool there.
package local

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// PathOf is the directory of a local or hostPath volume; empty: it is none, or a device.
func PathOf(v *snapshot.Volume) string {
	p := ""
	switch {
	case v.PV == nil || v.Block():
	case v.PV.Spec.Local != nil:
		p = v.PV.Spec.Local.Path
	case v.PV.Spec.HostPath != nil:
		p = v.PV.Spec.HostPath.Path
	}
	if p = path.Clean(p); !strings.HasPrefix(p, "/") || p == "/" || strings.HasPrefix(p, "/dev/") {
		return ""
	}
	return p
}

// Belongs tells whether a volume may be used on the place's node by its node affinity.
func Belongs(pl *evidence.Place) bool {
	n := pl.X.Node(pl.Node)
	return n == nil || pods.VolumeAllows(pl.Volume, n)
}

// Disk is the disk that a directory should be.
type Disk struct {
	Point string // where it is mounted by its entry
	Entry string // the entry, in words: "/etc/fstab: UUID=… /mnt/disks/vol1 xfs …"
	Meant evidence.Answer
	Fits  bool // nothing but its size tells the disk
}

// DiskOf finds out whether the path of a volume should be a disk of its own: by an entry
// of fstab or a unit, or because the static provisioner made the PV, which takes only
// mount points (sig-storage-local-static-provisioner, pkg/discovery), or by its size.
func DiskOf(pl *evidence.Place, p string) Disk {
	if d, _, ok := inFstab(pl, p); ok {
		return d
	}
	if d, ok := inUnits(pl, p); ok {
		return d
	}
	if by := snapshot.MadeBy(pl.Volume.PV); strings.HasPrefix(by, "local-volume-provisioner-") {
		return Disk{Point: p, Meant: evidence.Yes(evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "metadata.annotations[pv.kubernetes.io/provisioned-by]", by))}
	} else if by == "" {
		return fitting(pl, p)
	}
	return Disk{Point: p, Meant: evidence.No()}
}

// fitting: a volume that was made by hand before the node last started has not the size of the filesystem that
// its path lies on, and one disk of the node has, with a filesystem that is mounted nowhere: it was mounted by hand.
func fitting(pl *evidence.Place, p string) Disk {
	size, view, out := disk.SizeOf(pl.Volume), pl.View, Disk{Point: p, Meant: evidence.No()}
	m, boot := view.Containing(p), view.Facts.Identity.Boot()
	if m == nil || size == 0 || near(size, sizeAt(view, m), 5) || boot.Before(pl.Volume.PV.CreationTimestamp.Time) {
		return out
	}
	fits := evidence.Keep(view.Blocks(), func(b *probes.BlockDevice) bool {
		return slices.Contains([]string{"ext4", "xfs", "btrfs"}, view.Facts.Contents[b.Dev].Type) && disk.Idle(view, b) && near(size, b.Sectors*512, 20) && disk.OwnerOf(pl.X, pl.Volume, pl.Node, b.Dev) == nil
	})
	if len(fits) == 1 {
		b := fits[0]
		out.Entry, out.Fits = "none was found, but "+disk.Title(b)+" has the size of the volume and is mounted nowhere", true
		out.Meant = evidence.Yes(evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/size", fmt.Sprint(b.Sectors)), evidence.FromNode(pl.Node, "@content/"+b.Dev.String(), view.Facts.Contents[b.Dev].Type))
	}
	return out
}

// near tells whether two sizes differ by less than one part in so many.
func near(a, b, parts int64) bool { return max(a-b, b-a) < a/parts }

func sizeAt(view *snapshot.NodeView, m *probes.Mount) int64 {
	if s, ok := view.Facts.Statfs[m.Point]; ok && s.Err == "" {
		return int64(s.Blocks * s.BlockSize)
	} else if b := view.Device(m.Dev); b != nil {
		return b.Sectors * 512
	}
	return 0
}

// inFstab finds the entry of a path, and the device that it names.
func inFstab(pl *evidence.Place, p string) (d Disk, source string, ok bool) {
	for _, e := range pl.View.Fstab() {
		if e.Point != "/" && probes.Within(p, e.Point) && dedicated(e.Point) {
			return Disk{Point: e.Point, Entry: "/etc/fstab: " + e.Line, Meant: evidence.Yes(evidence.FromNode(pl.Node, "etc/fstab", e.Line))}, e.Source, true
		}
	}
	return Disk{}, "", false
}

// dedicated leaves out the parents that belong to the machine.
func dedicated(point string) bool {
	return !slices.Contains([]string{"/boot", "/usr", "/tmp", "/home"}, point)
}

func inUnits(pl *evidence.Place, p string) (Disk, bool) {
	for file, f := range pl.View.Facts.Files {
		if !strings.HasPrefix(file, "etc/systemd/system/") || !strings.HasSuffix(file, ".mount") {
			continue
		}
		for _, l := range strings.Split(f.Content, "\n") {
			where, ok := strings.CutPrefix(strings.TrimSpace(l), "Where=")
			if where = path.Clean(where); ok && where != "/" && probes.Within(p, where) {
				return Disk{Point: where, Entry: file, Meant: evidence.Yes(evidence.FromNode(pl.Node, file, "Where="+where))}, true
			}
		}
	}
	return Disk{}, false
}

// Absent asks whether nothing is mounted where the disk should be.
func (d Disk) Absent(pl *evidence.Place) evidence.Answer {
	if at := pl.View.MountsAt(d.Point); len(at) > 0 {
		return evidence.No().With(evidence.FromNode(pl.Node, "proc/1/mountinfo", at[len(at)-1].Raw))
	}
	r := evidence.Reading{}
	if pl.View.Init == nil || !pl.View.Facts.MountsOf(pl.View.Init.ID).Complete() {
		r = pl.Tables(probes.Mounts)
		if r.Complete() {
			r = evidence.Partial(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Mounts), Node: pl.Node, Why: "the machine's own table was not read"})
		}
	}
	text := "nothing is mounted at " + d.Point
	if m := pl.View.Containing(d.Point); m != nil {
		text += ", it lies on " + m.Point + " (" + m.Dev.String() + ")"
	}
	return r.Nothing(evidence.FromNode(pl.Node, "proc/1/mountinfo", text))
}

// Late is a disk that was mounted after a pod had started.
type Late struct {
	Pod  *corev1.Pod
	Disk probes.Mount
	Name string // of the disk, as the kernel calls it
	Is   evidence.Answer
}

// LateOf finds a pod that still has the bare directory below the volume's disk: the
// machine has the disk at the path or at a parent of it, the pod's own table another
// filesystem's directory of the same name.
func LateOf(pl *evidence.Place, p string) []Late {
	at := pl.View.Containing(p)
	if at == nil || at.Point == "/" || !dedicated(at.Point) {
		return nil
	}
	disk, name := *at, at.Source
	if b := pl.View.Device(disk.Dev); b != nil {
		name = b.Name
	}
	var out []Late
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		for _, q := range pl.View.ProcessesOfPod(string(c.Pod.UID)) {
			if old, ok := bare(pl.View, q.MntNS, disk, p); ok {
				out = append(out, Late{c.Pod, disk, name, evidence.Yes(
					evidence.FromNode(pl.Node, "proc/1/mountinfo", disk.Raw), evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/mountinfo", q.PID), old.Raw))})
				break
			}
		}
	}
	return out
}

// bare finds in a pod's table the directory that the disk now covers, and that nothing covers
// there: a mount that propagates (HostToContainer) brings the disk to a running pod.
func bare(view *snapshot.NodeView, ns uint64, disk probes.Mount, p string) (probes.Mount, bool) {
	below := rootOf(view, disk.Point)
	for _, n := range view.Namespaces() {
		if n.ID != ns || n.ID == view.Facts.Identity.InitMntNS {
			continue
		}
		for j, m := range n.Mounts {
			if m.Dev == below && m.Dev != disk.Dev && probes.Within(m.Root, p) &&
				!slices.ContainsFunc(n.Mounts[j+1:], func(over probes.Mount) bool { return over.Point == m.Point }) {
				return m, true
			}
		}
	}
	return probes.Mount{}, false
}

// rootOf is the device of the filesystem that holds the mount point itself: the longest
// mount above its parent.
func rootOf(view *snapshot.NodeView, p string) probes.Dev {
	if m := view.Containing(path.Dir(p)); m != nil && m.Point == "/" {
		return m.Dev
	}
	return probes.Dev{}
}
