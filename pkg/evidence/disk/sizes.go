// Package disk answers questions about the disks and filesystems of volumes on a node.
package disk

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Behind says which part of a volume on a node still has its old size.
type Behind string

// The parts, from the bottom to the top. Unread: the sizes do not tell.
const (
	Unread     Behind = ""
	Device     Behind = "device"
	Joined     Behind = "joined" // a logical volume, or an array, which lies on disks of other sizes
	Map        Behind = "map"    // what lies above the disk: multipath map, LUKS mapper
	Filesystem Behind = "filesystem"
)

// Sizes are the three sizes of a volume on a node.
type Sizes struct {
	Part  Behind
	Name  string // of the device that is behind, as the kernel calls it
	Facts []report.Evidence

	unprobed []evidence.Lack // the node was not looked at
	size     int64           // of the disk that is behind
	uneven   bool            // the paths of its map do not agree, which nobody rounds
}

const sector = 512

// SizesOf compares disk, mapper and filesystem of the place with the size before and
// after an expansion, in bytes.
func SizesOf(pl *evidence.Place, before, after int64) Sizes {
	var out Sizes
	if pl.View == nil {
		out.unprobed = pl.Probed().Lacks()
		return out
	}
	d, _ := pl.X.DeviceOn(pl.Volume, pl.Node)
	top := pl.View.Device(d.Top())
	own := bases(pl.View, cmp.Or(top, pl.View.Device(d.Dev)))
	for _, base := range own {
		out.uneven = out.uneven || base.Sectors != own[0].Sectors
		out.Facts = append(out.Facts, sizeFact(pl.Node, base))
		if kept(base.Sectors*sector, before, after) && out.Part == Unread {
			out.Part, out.Name, out.size = Device, base.Name, base.Sectors*sector
			if joined(base) {
				out.Part = Joined
			}
		}
	}
	if top == nil {
		return out
	}
	if len(top.Slaves) > 0 && !slices.Contains(own, top) {
		out.Facts = append(out.Facts, sizeFact(pl.Node, top))
		// A LUKS header takes up to 16 MiB of the disk.
		if out.Part == Unread && top.Sectors*sector < after-32<<20 {
			out.Part, out.Name = Map, top.Name
		}
	}
	out.filesystem(pl, top, before, after)
	return out
}

// kept tells whether a disk has its old size. One that is larger than that has grown, though a driver may round, or
// count in decimal gigabytes.
func kept(size, before, after int64) bool {
	return size < after && (size <= before || size < after/10*9)
}

// bases are the devices that are as large as the volume: its disk, each path of a map, its logical volume.
func bases(view *snapshot.NodeView, b *probes.BlockDevice) []*probes.BlockDevice {
	switch {
	case b == nil:
		return nil
	case joined(b):
		return []*probes.BlockDevice{b}
	case len(b.Slaves) == 0:
		return view.Leaves(b.Dev)
	}
	var out []*probes.BlockDevice
	for _, s := range b.Slaves {
		for _, base := range bases(view, view.ByName(s)) {
			if !slices.Contains(out, base) {
				out = append(out, base)
			}
		}
	}
	return out
}

// joined tells a device that the kernel makes of parts of disks. Only a map of paths is as large as each of its several.
func joined(b *probes.BlockDevice) bool {
	return IsArray(b) || IsMapped(b, "LVM-") || len(b.Slaves) > 1 && !IsMapped(b, "mpath-")
}

// filesystem judges the filesystem: its blocks do not count what it needs for itself, so
// only one that fits into the old size, of a volume that grew by a good deal, is behind.
func (s *Sizes) filesystem(pl *evidence.Place, top *probes.BlockDevice, before, after int64) {
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		st, ok := pl.View.Statfs(m.Mount.Point)
		if !ok || st.Err != "" || st.Blocks == 0 {
			continue
		}
		s.Facts = append(s.Facts, evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, fmt.Sprintf("%d blocks of %d bytes", st.Blocks, st.BlockSize)))
		if size := st.Blocks * st.BlockSize; s.Part == Unread && before > 0 && after > before+before/20 && size <= uint64(before) {
			s.Part, s.Name = Filesystem, top.Name
		}
		return
	}
}

func sizeFact(node string, b *probes.BlockDevice) report.Evidence {
	return evidence.FromNode(node, "sys/class/block/"+b.Name+"/size", fmt.Sprintf("%d sectors of 512 bytes, %s", b.Sectors, gib(b.Sectors*sector)))
}

// gib writes a size in GiB with one digit behind the point.
func gib(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// Far asks whether a disk lacks more of a size than drivers round.
func (s Sizes) Far(size int64) evidence.Answer {
	if (s.Part == Device || s.Part == Joined) && s.size > size/10*9 && !s.uneven {
		return evidence.No(s.Facts...)
	}
	return s.Contradicts()
}

// Uneven asks whether some paths of a map have grown on the node and others have not: the map stays as small as these
// (multipathd: "path size mismatch"), and whoever was to grow the filesystem found nothing to do.
func (s Sizes) Uneven() evidence.Answer {
	return evidence.When(s.uneven && s.Part == Device, s.Facts...)
}

// Contradicts asks whether the sizes on the node contradict what the backend has.
func (s Sizes) Contradicts() evidence.Answer {
	if s.unprobed != nil {
		return evidence.Unseen(s.unprobed...)
	}
	if s.Part == Unread {
		return evidence.No()
	}
	return evidence.Yes(s.Facts...)
}
