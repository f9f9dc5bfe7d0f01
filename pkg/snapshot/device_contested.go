package snapshot

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// udevSerial is what udev's database calls a disk; sysfs may show no serial of an NVMe disk or
// one of a hypervisor, of which a rule of the guest asks the disk.
func udevSerial(view *NodeView, dev probes.Dev) string {
	for _, line := range view.Facts.Udev[dev] {
		if s, ok := strings.CutPrefix(line, "E:ID_SERIAL_SHORT="); ok {
			return s
		}
	}
	return ""
}

// Serial is what tells a disk from its neighbours: in sysfs an NVMe disk has the serial of its controller,
// and a cloud may give one to all (nvme_card-pd); the name is in udev's database then.
func (n *NodeView) Serial(b *probes.BlockDevice) string {
	called := udevSerial(n, b.Dev)
	if called == "" || b.Serial != "" && (called == b.Serial || !strings.HasPrefix(b.Name, "nvme")) {
		return b.Serial
	}
	if b.Serial == "" || slices.ContainsFunc(n.Facts.Block, func(o probes.BlockDevice) bool {
		return o.Serial == b.Serial && o.Dev != b.Dev && o.Partition == 0
	}) {
		return called
	}
	return b.Serial
}

// contested tells whether what a link leads to is called another volume by itself, or by another
// link, and does not call itself this one, or whether another disk does: drivers make links by hand where udev was late, and
// leave them behind (gcp-compute-persistent-disk-csi-driver issue 2403).
func (x *Index) contested(view *NodeView, v *Volume, dev probes.Dev) bool {
	other := func(field string) bool {
		o := x.called(field)
		return o != nil && !v.Same(o)
	}
	own := []string{udevSerial(view, dev)}
	if b := view.Device(dev); b != nil {
		own = append(own, b.Serial, b.WWID, b.VPD83)
	}
	if slices.ContainsFunc(own, v.Names) {
		return false
	}
	if elsewhere := slices.ContainsFunc(view.Facts.Block, func(o probes.BlockDevice) bool {
		return o.Dev != dev && o.Partition == 0 && o.DM == nil && v.Names(view.Serial(&o)) && !view.Rests(dev, o.Dev)
	}); elsewhere && strings.Join(own, "") != "" {
		return true
	}
	return slices.ContainsFunc(own, other) || slices.ContainsFunc(view.Facts.DevLinks, func(l probes.DevLink) bool {
		return l.Dev == dev && strings.HasPrefix(l.Path, "/dev/disk/by-id/") && !v.Names(path.Base(l.Path)) && other(path.Base(l.Path))
	})
}

// ids are the volumes by the ids that hardware may know them by.
func (x *Index) ids() map[string]*Volume {
	return x.Memo("snapshot.ids", func() any {
		out := map[string]*Volume{}
		for _, v := range x.Volumes {
			for _, t := range append(tokens(v), Plain(v.PVName())) {
				if len(t) >= shortToken {
					out[t] = v
				}
			}
		}
		return out
	}).(map[string]*Volume)
}

// wholly tells whether the serial of a disk is another volume's id as it stands, and not one of
// those that are wanted: a name of 20 letters looks like a longer one that was cut off.
func (x *Index) wholly(view *NodeView, v *Volume, b *probes.BlockDevice, want []string) bool {
	id := Plain(view.Serial(b))
	o := x.ids()[id]
	return o != nil && !v.Same(o) && !slices.Contains(want, id)
}

// called is the volume whose id a name of a disk is, or a long one ends with, or nil.
func (x *Index) called(field string) *Volume {
	ids := x.ids()
	for i := range field {
		if i == 0 || strings.IndexByte("-_:/", field[i-1]) >= 0 {
			id := Plain(field[i:])
			if v := ids[id]; v != nil && (i == 0 || len(id) >= longToken) {
				return v
			}
		}
	}
	return nil
}
