package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Filesystems are those of one machine, as blkid and the mount table call them.
var Filesystems = []string{"ext2", "ext3", "ext4", "xfs", "btrfs"}

// Mark is a value of a device in sysfs that another device of the same name would
// not have. Kernel names are given away again, so a command compares it right before
// it acts.
type Mark struct {
	Path  string // on the node, with leading slash
	Value string // without surrounding white space
}

// Marks are those of a device: enough to know it again, or none.
func Marks(view *snapshot.NodeView, b *probes.BlockDevice) []Mark {
	if view == nil || b == nil {
		return nil
	}
	at := "/sys/class/block/" + b.Name + "/"
	switch {
	case b.DM != nil && b.DM.UUID != "":
		return mappedMarks(view, b, Mark{at + "dm/uuid", b.DM.UUID}, Mark{at + "dm/name", b.DM.Name})
	case strings.HasPrefix(b.Name, "rbd"):
		return imageMarks(view, b)
	case b.LoopFile != "":
		return []Mark{{at + "loop/backing_file", b.LoopFile}}
	case b.MDState != "":
		return memberMarks(view, b)
	case b.WWID != "" && strings.HasPrefix(b.Name, "sd"):
		target, known := targetMarks(view, b, at)
		if !known {
			return nil
		}
		return append([]Mark{{at + "device/wwid", b.WWID}}, target...)
	case b.WWID != "":
		return []Mark{{at + "wwid", b.WWID}}
	}
	return nil
}

// targetMarks is the target of a disk of tgt, whose WWID is made of target id and LUN
// only: every volume of Longhorn's v1 engine can have it. The links lead from the disk to
// its session (drivers/scsi/scsi_transport_iscsi.c, iscsi_add_session). A disk of tgt whose
// session was not read cannot be known again.
func targetMarks(view *snapshot.NodeView, b *probes.BlockDevice, at string) (marks []Mark, known bool) {
	if strings.TrimSpace(b.Vendor) != "IET" {
		return nil, true
	}
	s := view.SessionOfDisk(b.Name)
	if s == nil || s.Name == "" || s.Target == "" {
		return nil, false
	}
	return []Mark{{at + "device/../../iscsi_session/" + s.Name + "/targetname", s.Target}}, true
}

// mappedMarks adds to those of a map the ones of its disks whose WWID says too little.
func mappedMarks(view *snapshot.NodeView, m *probes.BlockDevice, own ...Mark) []Mark {
	if !strings.HasPrefix(m.DM.UUID, "mpath-") {
		return own
	}
	for _, name := range m.Slaves {
		b := view.ByName(name)
		if b == nil {
			return nil
		}
		target, known := targetMarks(view, b, "/sys/class/block/"+m.Name+"/slaves/"+name+"/")
		if !known {
			return nil
		}
		own = append(own, target...)
	}
	return own
}

// imageMarks are pool and image of a mapped RBD (Documentation/ABI/testing/sysfs-bus-rbd).
func imageMarks(view *snapshot.NodeView, b *probes.BlockDevice) []Mark {
	for _, r := range view.Facts.RBD {
		if r.Name == b.Name && r.ID != "" && r.Pool != "" && r.Image != "" {
			at := "/sys/bus/rbd/devices/" + r.ID + "/"
			return []Mark{{at + "pool", r.Pool}, {at + "name", r.Image}}
		}
	}
	return nil
}

// memberMarks are those of the disks of an array: its own number tells nothing.
func memberMarks(view *snapshot.NodeView, b *probes.BlockDevice) []Mark {
	var out []Mark
	for _, name := range b.Slaves {
		member := view.ByName(name)
		marks := Marks(view, member)
		if len(marks) == 0 {
			return nil
		}
		// Through the array's own link, so that the disk must be its member now. What stands elsewhere
		// (an image of RBD below the bus) is of that disk as long as the member has its number.
		at := "/sys/class/block/" + b.Name + "/slaves/"
		if !strings.HasPrefix(marks[0].Path, "/sys/class/block/") {
			out = append(out, Mark{at + name + "/dev", member.Dev.String()})
		}
		for _, m := range marks {
			if below, ok := strings.CutPrefix(m.Path, "/sys/class/block/"); ok {
				m.Path = at + below
			}
			out = append(out, m)
		}
	}
	return out
}

// Known asks whether the device can be known again by something that no other one
// has.
func Known(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	view, all, whole := looked(x, on, dev)
	if len(all) == 0 {
		return whole.Nothing()
	}
	facts := evidence.Each(Marks(view, all[0]), func(m Mark) report.Evidence { return evidence.FromNode(on, strings.TrimPrefix(m.Path, "/"), m.Value) })
	if len(facts) == 0 {
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Block), Node: on, Why: all[0].Name + " has no WWID, uuid, image or backing file"})
	}
	return evidence.Yes(facts...)
}

// Holds asks whether the device is the volume's, by an identity that no other volume
// has.
func Holds(x *snapshot.Index, v *snapshot.Volume, on string, dev probes.Dev) evidence.Answer {
	if _, _, whole := looked(x, on, dev); !whole.Complete() {
		return whole.Nothing()
	}
	d, ok := x.DeviceOn(v, on)
	switch {
	case !ok || d.Dev != dev && d.Top() != dev:
		return evidence.No(evidence.FromNode(on, "sys/class/block", "the volume's device is another one"))
	case !d.Proven:
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Block), Node: on, Why: "no session, serial, WWID or image ties it to the volume"})
	}
	return evidence.Yes(evidence.FromNode(on, d.Locator, d.How))
}

// Stranger asks whether the device carries an identity that is not the volume's: the
// PV states another one of the same kind, or the disk itself tells another one (page
// 0x83) than the kernel remembers.
func Stranger(x *snapshot.Index, v *snapshot.Volume, on string, dev probes.Dev) evidence.Answer {
	_, all, whole := looked(x, on, dev)
	if len(all) == 0 {
		return whole.Nothing()
	}
	b := all[0]
	id := snapshot.BareWWID(b.WWID)
	seen := evidence.FromNode(on, "sys/class/block/"+b.Name+"/device/wwid", b.WWID)
	stated := Comparable(v.WWIDs(), id)
	switch {
	case len(id) < 16 || len(stated) == 0:
		return evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Block), Node: on, Why: "the identity of the volume or of " + b.Name + " is not known"})
	case b.VPD83 != "" && !strings.Contains(strings.ToLower(b.VPD83), id):
		return evidence.Yes(seen, evidence.FromNode(on, "sys/class/block/"+b.Name+"/device/vpd_pg83", b.VPD83))
	case slices.Contains(stated, id):
		return evidence.No(seen)
	}
	return evidence.Yes(seen, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec", strings.Join(stated, ", ")))
}

// Comparable keeps the stated identities that are of one kind with a disk's: of equal
// length, and from one vendor (the digits after the type). The name of a target's port
// looks like an identity, too.
func Comparable(stated []string, id string) []string {
	const vendor = 7
	return evidence.Keep(stated, func(s string) bool { return len(s) == len(id) && len(id) > vendor && s[:vendor] == id[:vendor] })
}
