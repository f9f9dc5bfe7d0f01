package mounts

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// judge tells whether a mount's device is gone, offline or replaced.
func (d *DeadMount) judge(x *snapshot.Index, m snapshot.VolumeMount) bool {
	b := d.view.Device(d.Dev)
	switch {
	case d.view.Dead(d.Dev):
		d.reason = "the kernel has no block device with this number any more"
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "sys/class/block/*/dev", "no entry "+d.Dev.String()))
		return true
	case b == nil || onRoot(d.view, d.Dev):
		return false // nothing is known of it, or the node's own disk: mount-missing-under-pod
	case d.unserved(b):
		d.reason = "no process rbd-nbd serves it any more, which is the other end of such a disk"
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "proc/*/comm", "none is rbd-nbd for "+b.Name))
		if !evidence.NodePlace(x, d.view.Name).Tables(probes.Processes).Complete() {
			d.unsure = "whether a process serves it (not all were read)"
		}
		return true
	case hollow(d.view, b):
		d.reason = "every disk below it is gone or offline"
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/slaves", strings.Join(b.Slaves, " ")))
		return d.lost(m, b) && !pathsBack(d.view, b)
	case pathless(d.view, b):
		d.reason = "it is a multipath map without any path, and no disk with its WWID is left"
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/slaves", "(empty)"))
		return !pathsBack(d.view, b)
	case bareMapper(d, b):
		st, _ := d.view.Statfs(m.Mount.Point)
		d.reason = "nothing lies below the mapper any more"
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/slaves", "(empty)"))
		return st.Err == "EIO" || strings.HasPrefix(b.DM.UUID, "CRYPT-") && d.Now != nil && d.Now.Proven && d.Now.Block != nil
	case offline(b):
		st, _ := d.view.Statfs(m.Mount.Point)
		d.reason = "the kernel has taken the disk offline (" + b.State + ")"
		if st.Err == "EIO" {
			d.reason += ", and the mount answers EIO"
		}
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "sys/class/block/"+b.Name+"/device/state", b.State))
		// Without either the session may come back under it: iscsi-session-lost.
		return st.Err == "EIO" || d.Now != nil && d.Now.Proven && d.Now.Block != nil && !d.view.Rests(d.Dev, d.Now.Dev)
	case d.Now != nil && d.Now.Proven && d.Now.Block != nil, foreignHere(x, d):
		return d.replaced(x, b)
	}
	return false
}

// lost tells whether what lies below a mapping does not come back: no disk of it is there any
// more, the filesystem answers EIO, or the volume is another disk now; perhaps it is a disk of LVM that nothing holds, since
// a map keeps the device that it was given (drivers/md/dm-table.c, dm_get_device). Of disks that are only
// offline the session or the port may return, and what queues goes on: iscsi-session-lost.
func (d *DeadMount) lost(m snapshot.VolumeMount, b *probes.BlockDevice) bool {
	there := slices.ContainsFunc(d.view.Leaves(b.Dev), func(l *probes.BlockDevice) bool { return l.Dev != b.Dev })
	st, _ := d.view.Statfs(m.Mount.Point)
	returns := slices.ContainsFunc(d.view.Leaves(b.Dev), func(l *probes.BlockDevice) bool { return d.view.SessionOfDisk(l.Name) != nil })
	if free := freeMember(d.view); there && !returns && st.Err != "EIO" && free != nil && strings.HasPrefix(b.DM.UUID, "LVM-") {
		d.unsure = "whether " + free.Name + ", which has LVM's label and is held by nothing, is the disk that was below it"
		d.facts = append(d.facts, evidence.FromNode(d.view.Name, "@content/"+free.Dev.String(), "TYPE=LVM2_member"))
		return true
	}
	return !there || st.Err == "EIO" || d.Now != nil && d.Now.Proven && d.Now.Block != nil && !d.view.Rests(d.Dev, d.Now.Dev)
}

// freeMember is a disk with LVM's label that serves and that nothing holds.
func freeMember(view *snapshot.NodeView) *probes.BlockDevice {
	return evidence.First(view.Blocks(), func(b *probes.BlockDevice) bool {
		return view.Facts.Contents[b.Dev].Type == "LVM2_member" && len(view.HoldersOf(b.Dev)) == 0 && !offline(b)
	})
}

// foreignHere tells whether another volume that is attached to the node has this
// number by its identity: also a volume whose own disk is gone can have lost it so. Where
// both have it, neither came after the other: device-is-not-the-volume.
func foreignHere(x *snapshot.Index, d *DeadMount) bool {
	if own, ok := x.DeviceOn(d.Volume, d.view.Name); ok && own.Proven && slices.Contains(own.Numbers(), d.Dev) {
		return false
	}
	o := disk.OwnerOf(x, d.Volume, d.view.Name, d.Dev)
	return o != nil && (o.AttachmentOn(d.view.Name) != nil || x.ReportedInUse(d.view.Name, o) || len(o.LiveConsumersOn(d.view.Name)) > 0)
}

// bareMapper is a dm-crypt mapping or a logical volume without a disk below: a living
// one always has one.
func bareMapper(d *DeadMount, b *probes.BlockDevice) bool {
	return b.DM != nil && (strings.HasPrefix(b.DM.UUID, "CRYPT-") || strings.HasPrefix(b.DM.UUID, "LVM-")) && len(b.Slaves) == 0 && len(d.view.Leaves(b.Dev)) == 1 && d.view.Leaves(b.Dev)[0].Dev == b.Dev
}

// replaced judges a mount of a living disk while the volume is another one. A mount
// that was made before one of the two disks appeared is a dead one; one that was
// made later has the wrong disk, which is another fault.
func (d *DeadMount) replaced(x *snapshot.Index, b *probes.BlockDevice) bool {
	known := d.Now != nil && d.Now.Proven && d.Now.Block != nil
	if known && (d.view.Rests(d.Dev, d.Now.Dev) || d.view.Rests(d.Now.Dev, d.Dev)) {
		return false // a map, mapper or partition of the volume's own disk
	}
	d.Alive = true
	owner := disk.OwnerOf(x, d.Volume, d.view.Name, d.Dev)
	began, sure := mountedBefore(x, d)
	came, now := appeared(x, d.view, b.Name, owner), time.Time{}
	if known {
		now = appeared(x, d.view, d.Now.Block.Name, d.Volume)
	}
	switch {
	case began.IsZero():
		return false
	case came.After(began):
		d.Reused = true
		d.reason = "that number was given to another disk after the mount was made" + ofVolume(owner)
	case now.After(began):
		d.reason = "the volume is another disk now, which appeared after the mount was made"
	case known && owner == nil && !evidence.NodePlace(x, d.view.Name).LogFrom(began).Complete():
		d.reason = "the volume is another disk now"
		d.unsure = "when that disk appeared (the kernel log does not tell): after the mount, or before it"
		return true
	default:
		return false
	}
	d.facts = append(d.facts, kernelFacts(d.view, began, came, now)...)
	if d.Victim != nil {
		if o, ok := x.DeviceOn(d.Victim, d.view.Name); ok {
			d.facts = append(d.facts, evidence.FromNode(d.view.Name, o.Locator, o.How+", volume "+volume.Name(d.Victim)))
		}
	}
	if !sure {
		d.unsure = "when the mount was made (its pod has restarted containers)"
	}
	return true
}

func ofVolume(v *snapshot.Volume) string {
	if v == nil {
		return ""
	}
	return ", the one of volume " + volume.Name(v)
}

// hollow tells whether a device-mapper or RAID device has lost everything below.
func hollow(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	unread := func(name string) bool { return view.ByName(name) == nil && !view.Gone(name) }
	if b.DM == nil || len(b.Slaves) == 0 || slices.ContainsFunc(b.Slaves, unread) {
		return false
	}
	return !slices.ContainsFunc(view.Leaves(b.Dev), func(leaf *probes.BlockDevice) bool { return leaf.Dev != b.Dev && !offline(leaf) })
}

// unserved tells whether a disk of rbd-nbd has lost its process, which dies with the container that
// carries it. One that takes the disk over names it or the image (rbd-nbd(8), attach).
func (d *DeadMount) unserved(b *probes.BlockDevice) bool {
	_, image, _ := d.Volume.RBDImage()
	serves := func(q probes.Process) bool {
		return q.Comm == "rbd-nbd" && (len(q.Cmdline) == 0 || slices.Contains(q.Cmdline, "/dev/"+b.Name) || snapshot.MapsImage(&q, image))
	}
	return strings.HasPrefix(b.Name, "nbd") && image != "" && !slices.ContainsFunc(d.view.Facts.Processes, serves)
}

func offline(b *probes.BlockDevice) bool {
	return snapshot.TakenOffline(b) || slices.Contains([]string{"deleted", "del", "cancel", "dead"}, b.State)
}

// pathless tells whether a device is a multipath map from which every path was taken.
func pathless(view *snapshot.NodeView, b *probes.BlockDevice) bool {
	return b.DM != nil && strings.HasPrefix(b.DM.UUID, "mpath-") && !slices.ContainsFunc(b.Slaves, func(name string) bool { return !view.Gone(name) })
}

// pathsBack tells whether a running disk with the WWID of a multipath map stands
// beside it: then the map can have its paths back (multipath-map-orphaned).
func pathsBack(view *snapshot.NodeView, m *probes.BlockDevice) bool {
	if m.DM == nil {
		return false
	}
	wwid, ok := strings.CutPrefix(m.DM.UUID, "mpath-")
	if !ok {
		return false
	}
	return slices.ContainsFunc(view.Blocks(), func(b *probes.BlockDevice) bool {
		id := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(b.WWID), "naa."), "eui.")
		return b.DM == nil && len(id) >= 8 && strings.HasSuffix(strings.ToLower(wwid), id) && !offline(b) && !slices.Contains(m.Slaves, b.Name)
	})
}
