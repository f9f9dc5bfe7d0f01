package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Comparison is the comparison of a node's disks with the identity of a volume.
type Comparison struct {
	Count     int
	Match     bool     // one carries the volume's identity
	Unclaimed string   // an unused disk of the volume's size without an identity of its own
	Stranger  string   // an unused disk of the volume's size, or of any when no size is known, with an identity that is not the volume's name
	Blank     []string // disks without any identity
	Evidence  []report.Evidence
}

// Compare looks at every whole disk that could come from a backend.
func Compare(v *snapshot.Volume, view *snapshot.NodeView) Comparison {
	var out Comparison
	for _, b := range view.Blocks() {
		if !Whole(b) {
			continue
		}
		out.Count++
		id, locator := Identity(view, b)
		out.Match = out.Match || v.Names(id) || v.Names(b.Serial) || v.Names(b.WWID)
		switch {
		case id == "" && !System(view, b):
			out.Blank = append(out.Blank, b.Name)
		case id != "":
			out.Evidence = append(out.Evidence, evidence.FromNode(view.Name, locator, id))
		}
		size := SizeOf(v)
		switch fits := size == b.Sectors*512 && Idle(view, b); {
		case fits && out.Unclaimed == "" && !OwnIdentity(view, b):
			out.Unclaimed = b.Name
		case out.Stranger == "" && !view.NamesOther(v, b) && (fits || size == 0 && Idle(view, b) && !System(view, b)):
			out.Stranger = b.Name
		}
	}
	return out
}

// Whole leaves out partitions and what is made on the node itself.
func Whole(b *probes.BlockDevice) bool {
	for _, prefix := range []string{"loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", "rbd", "drbd", "bcache", "zd"} {
		if strings.HasPrefix(b.Name, prefix) {
			return false
		}
	}
	return b.Partition == 0 && b.DM == nil
}

// Identity is what names a disk independently of the node: serial, WWID, the
// by-id link, the session's target, the map that multipathd made of it.
func Identity(view *snapshot.NodeView, b *probes.BlockDevice) (id, locator string) {
	at := "sys/class/block/" + b.Name
	if s := view.SessionOfDisk(b.Name); s != nil {
		return s.Target, "sys/class/iscsi_session/" + s.Name + "/targetname"
	}
	for _, l := range view.Facts.DevLinks {
		if l.Dev == b.Dev && strings.HasPrefix(l.Path, byID) {
			return l.Path, strings.TrimPrefix(l.Path, "/")
		}
	}
	for _, x := range []struct{ value, name string }{{b.Serial, "/serial"}, {b.WWID, "/wwid"}, {b.VPD83, "/device/vpd_pg83"}} {
		if v := strings.TrimSpace(x.value); v != "" {
			return v, at + x.name
		}
	}
	for _, h := range view.HoldersOf(b.Dev) { // multipathd has read it, and made the map of that name
		if dm := h.Device.DM; dm != nil && strings.HasPrefix(dm.UUID, "mpath-") {
			return strings.TrimPrefix(dm.UUID, "mpath-"), "sys/class/block/" + h.Device.Name + "/dm/uuid"
		}
	}
	return "", ""
}

// System tells whether the node itself lives on the disk: what is mounted at the root of process
// 1's namespace lies on it or on one of its partitions, whatever is between.
func System(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return slices.ContainsFunc(view.MountsAt("/"), func(m probes.Mount) bool {
		return slices.ContainsFunc(view.Leaves(m.Dev), func(l *probes.BlockDevice) bool {
			return l.Dev == b.Dev || l.Partition > 0 && (l.Parent == b.Name || strings.HasPrefix(l.Name, b.Name))
		})
	})
}

// Idle tells whether nobody uses a disk: no mount, holder or partition.
func Idle(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return len(view.Uses(b.Dev))+len(b.Holders) == 0 && !slices.ContainsFunc(view.Blocks(), func(o *probes.BlockDevice) bool {
		return o.Partition > 0 && (o.Parent == b.Name || o.Parent == "" && strings.HasPrefix(o.Name, b.Name))
	})
}

// SizeOf is the volume's size in bytes, or zero.
func SizeOf(v *snapshot.Volume) int64 {
	if v.PV == nil {
		return 0
	}
	q := v.PV.Spec.Capacity["storage"]
	return q.Value()
}

// OwnIdentity tells whether a disk carries a serial or WWID of its own: then it is a
// disk that can be told apart, and not the volume's.
func OwnIdentity(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	id, _ := Identity(view, b)
	if id == "" {
		return false
	}
	// Namespaces of one NVMe controller share its serial: it names no disk.
	shared := evidence.Keep(view.Blocks(), func(o *probes.BlockDevice) bool {
		return Whole(o) && strings.TrimSpace(o.Serial) == strings.TrimSpace(b.Serial) && o.Serial != ""
	})
	return len(shared) < 2 || strings.TrimSpace(b.Serial) != id
}
