package snapshot

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// agreeing weighs the disks of several nodes against each other. A target and LUN, a subsystem, an
// image's or a logical volume's name are places: the backend gives them to the next volume, and a
// node that was not told keeps what was there before. The kernel reads a WWID from the disk itself
// (sysfs device/wwid: VPD page 0x83, drivers/scsi/scsi_lib.c), so of one disk it is one on all nodes:
// what has another one than the disks of the nodes that have the volume is not the volume's. What is
// mounted at the volume's own paths is kept, and contradicted.
func (x *Index) agreeing(v *Volume, all []VolumeDevice) []VolumeDevice {
	var own []string
	by := ""
	for _, d := range all {
		if ids := d.identities(); len(ids) > 0 && v.wantedOn(d.Node) {
			own, by = append(own, ids...), d.Node
		}
	}
	var out []VolumeDevice
	for _, d := range all {
		if other := contradicts(d.identities(), own); other != "" {
			numbers := d.Numbers()
			if !slices.ContainsFunc(x.VolumeMounts(v, d.Node), func(m VolumeMount) bool { return slices.Contains(numbers, m.Mount.Dev) }) {
				continue
			}
			d.Proven, d.Unlike = false, "that disk is "+other+", and the one that the volume has on node "+by+" is "+strings.Join(own, ", ")
		}
		out = append(out, d)
	}
	return out
}

// wantedOn tells whether a pod of the volume lives or starts on a node, or an attachment is to stay there.
func (v *Volume) wantedOn(node string) bool {
	va := v.AttachmentOn(node)
	return len(v.LiveConsumersOn(node)) > 0 || va != nil && va.Status.Attached && va.DeletionTimestamp == nil
}

// SameWWID tells whether two nodes read one identity from what is held for the volume's disk.
func (d VolumeDevice) SameWWID(o VolumeDevice) bool {
	have := o.identities()
	return slices.ContainsFunc(d.identities(), func(id string) bool { return slices.Contains(have, id) })
}

// Alike are the disks of other nodes that have an identity of a volume's disk.
func (x *Index) Alike(d VolumeDevice) (out []VolumeDevice) {
	ids := d.identities()
	if len(ids) == 0 {
		return nil
	}
	known := x.disksByIdentity.get(struct{}{}, func(struct{}) map[string][]VolumeDevice {
		known := map[string][]VolumeDevice{}
		for _, name := range slices.Sorted(maps.Keys(x.NodeViews)) {
			view := x.NodeViews[name]
			for _, b := range view.Blocks() {
				disk := VolumeDevice{Node: name, View: view, Dev: b.Dev, Block: b}
				for _, id := range disk.identities() {
					known[id] = append(known[id], disk)
				}
			}
		}
		return known
	})
	for _, o := range known[ids[0]] {
		if o.Node != d.Node {
			out = append(out, o)
		}
	}
	return out
}

// contradicts is an identity of one kind of which the other list has another one, when they have none in common.
func contradicts(have, own []string) (other string) {
	for _, id := range have {
		if slices.Contains(own, id) {
			return ""
		}
		kind, _, _ := strings.Cut(id, ".")
		if slices.ContainsFunc(own, func(o string) bool {
			return strings.HasPrefix(o, kind+".") && (kind != "naa" || len(o) == len(id)) // a disk may have names of 8 and of 16 bytes
		}) {
			other = id
		}
	}
	return other
}

// ownIDs are the makers of targets whose disks do not have the same identity on every node and for
// ever: tgt numbers them by target and LUN, LIO and nvmet make new ones when their disk is set up anew
// without a saved configuration; a hypervisor's disk may be another one in each guest.
var ownIDs = []string{"IET", "LIO-ORG", "QEMU", "Msft", "VMware", "Linux"}

// identities are what the disks below a volume's device are called by their maker, with the kind:
// "naa.…", "eui.…", "uuid.…", and the ids by which a cluster of Ceph and LVM tell namesakes apart.
func (d VolumeDevice) identities() []string {
	var out nodeList
	if d.Block == nil {
		return nil
	}
	for _, r := range d.View.Facts.RBD {
		if r.ImageID != "" && "rbd"+r.ID == d.Block.Name {
			out.add("image." + r.ImageID)
		}
	}
	if d.Block.DM != nil && strings.HasPrefix(d.Block.DM.UUID, "LVM-") {
		out.add("lvm." + strings.TrimPrefix(d.Block.DM.UUID, "LVM-"))
	}
	for _, b := range append(slices.Clone(d.Paths), d.Block) {
		if slices.Contains(ownIDs, strings.TrimSpace(b.Vendor)) || slices.Contains(ownIDs, strings.TrimSpace(b.Model)) {
			return nil
		}
		for _, id := range append(page83(b.VPD83), strings.ToLower(strings.TrimSpace(b.WWID))) {
			kind, digits, _ := strings.Cut(id, ".")
			if digits = strings.ReplaceAll(digits, "-", ""); slices.Contains([]string{"naa", "eui", "uuid"}, kind) && len(digits) >= 16 && strings.Trim(digits, "0") != "" {
				out.add(kind + "." + digits)
			}
		}
	}
	slices.Sort(out)
	return out
}

// page83 are the NAA and EUI-64 names of the logical unit in a page 0x83 in hexadecimal (SPC-4, 7.8.6):
// not those of its port and target.
func page83(page string) (out []string) {
	raw, err := hex.DecodeString(page)
	for at := 4; err == nil && at+4 <= len(raw); {
		end := at + 4 + int(raw[at+3])
		if end > len(raw) {
			return out
		}
		if unit := raw[at+1]&0x30 == 0; unit {
			switch raw[at+1] & 0x0f {
			case 2:
				out = append(out, "eui."+hex.EncodeToString(raw[at+4:end]))
			case 3:
				out = append(out, "naa."+hex.EncodeToString(raw[at+4:end]))
			}
		}
		at = end
	}
	return out
}
