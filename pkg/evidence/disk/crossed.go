package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Crossed finds another volume that is written on another node through the same disk, as its WWID
// says: one of both is not the volume, and the two nodes know nothing of each other. Which one it
// is only the backend knows. What lies in a disk beside other things (a partition, a logical
// volume) may share it.
func Crossed(pl *evidence.Place) (w Wrong, at string, ok bool) {
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || d.Block == nil || !whole(d.View, d.Block) {
		return w, "", false
	}
	if IsMapped(d.Block, "mpath-") && len(d.Paths) == 0 {
		d.Paths = d.View.Leaves(d.Dev) // what the disks are called, the map is not
	}
	mine := writes(pl.X, pl.Volume, d)
	if mine == nil {
		return w, "", false
	}
	for _, o := range pl.X.Alike(d) {
		o.Stack = append(o.Stack, evidence.Keep(o.View.Above(o.Dev), func(b *probes.BlockDevice) bool { return IsMapped(b, "mpath-") })...)
		for _, v := range mountedFrom(pl.X, o) {
			if v.Same(pl.Volume) || !whole(o.View, o.Block) {
				continue
			}
			if its := writes(pl.X, v, o); its != nil {
				return Wrong{Dev: d.Dev, Block: d.Block, Other: v, AtMost: report.Likely, Is: evidence.Yes(
					evidence.FromNode(pl.Node, "proc/1/mountinfo", mine.Raw), evidence.FromNode(o.Node, "proc/1/mountinfo", its.Raw),
					evidence.FromNode(o.Node, "sys/class/block/"+o.Block.Name+"/device/wwid", o.Block.WWID))}, o.Node, true
			}
		}
	}
	return w, "", false
}

// mountedFrom are the volumes at whose paths a disk, or a map of it, is mounted.
func mountedFrom(x *snapshot.Index, d snapshot.VolumeDevice) (out []*snapshot.Volume) {
	for _, dev := range d.Numbers() {
		for _, use := range d.View.InitUses(dev) {
			if v := x.VolumeOfPath(d.Node, use.Mount.Point); v != nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// whole tells a disk, or a multipath map of one, from a part of it. NVMe of the machine itself is
// none that two can have, and some makers give one EUI to all (NVME_QUIRK_BOGUS_NID in
// drivers/nvme/host/pci.c).
func whole(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	if strings.HasPrefix(b.Name, "nvme") && (b.Transport == "" || b.Transport == "pcie") {
		return false
	}
	return b.Partition == 0 && (direct(view, b) || IsMapped(b, "mpath-"))
}

// writes is the mount of a volume's disk at its own path through which a node writes to it; a
// filesystem for clusters is written by many.
func writes(x *snapshot.Index, v *snapshot.Volume, d snapshot.VolumeDevice) *probes.Mount {
	numbers := d.Numbers()
	for _, m := range x.VolumeMounts(v, d.Node) {
		if slices.Contains(numbers, m.Mount.Dev) && m.Mount.HasSuper("rw") && !OfCluster(m.Mount.FSType) {
			return &m.Mount
		}
	}
	return nil
}

// OfCluster tells a filesystem of disks that several nodes mount at once (Documentation/filesystems of the kernel).
func OfCluster(fstype string) bool { return fstype == "gfs2" || fstype == "ocfs2" }
