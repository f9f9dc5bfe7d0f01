package multipath

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// wwid is the identity of a map, from its uuid.
func wwid(m *probes.BlockDevice) string {
	return snapshot.BareWWID(strings.TrimPrefix(m.DM.UUID, "mpath-"))
}

// named is the identity of a volume that a map's WWID is, or empty.
func named(v *snapshot.Volume, m *probes.BlockDevice) string {
	w := wwid(m)
	for _, o := range v.WWIDs() {
		if o == w || len(o) >= 16 && strings.HasSuffix(w, o) || len(w) >= 16 && strings.HasSuffix(o, w) {
			return o
		}
	}
	return ""
}

// of tells whether a map is a volume's, by WWID or because the volume's device is below
// it, and how that is known.
func of(x *snapshot.Index, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) (bool, string) {
	if o := named(v, m); o != "" {
		return true, "the map's WWID is that of the volume (" + o + ")"
	}
	if d, ok := x.DeviceOn(v, view.Name); ok {
		if d.Dev == m.Dev {
			return true, d.How
		}
		for _, leaf := range view.Leaves(m.Dev) {
			if leaf.Dev == d.Dev {
				return true, "the volume's disk " + leaf.Name + " is a slave of the map"
			}
		}
	}
	return false, ""
}

// ofAnother tells whether a map belongs to another volume of the cluster than this one, or
// to any (nil).
func ofAnother(x *snapshot.Index, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) bool {
	return slices.ContainsFunc(x.Volumes, func(o *snapshot.Volume) bool {
		mine, _ := of(x, o, view, m)
		return o != v && mine
	})
}

// dead are the maps of a node without a usable path.
func dead(view *snapshot.NodeView) []*probes.BlockDevice {
	return evidence.Keep(view.Blocks(), func(m *probes.BlockDevice) bool { return disk.IsMapped(m, "mpath-") && view.NoPath(m) })
}

// Orphan is a map without a usable path, seen from the place's volume.
type Orphan struct {
	*probes.BlockDevice
	pl   *evidence.Place
	Mine bool
	how  string
}

// OrphansOf are the dead maps of the place's node.
func OrphansOf(pl *evidence.Place) []Orphan {
	var out []Orphan
	for _, m := range dead(pl.View) {
		mine, how := of(pl.X, pl.Volume, pl.View, m)
		out = append(out, Orphan{m, pl, mine, how})
	}
	return out
}

// IsDead quotes what shows that the map has no usable path.
func (o Orphan) IsDead() evidence.Answer {
	at := "sys/class/block/" + o.Name
	out := evidence.Yes(evidence.FromNode(o.pl.Node, at+"/dm/uuid", o.DM.UUID), evidence.FromNode(o.pl.Node, at+"/slaves", pathStates(o.pl.View, o.BlockDevice)))
	if len(o.Holders) > 0 {
		out = out.With(evidence.FromNode(o.pl.Node, at+"/holders", strings.Join(o.Holders, " ")))
	}
	if o.how != "" {
		out = out.With(evidence.FromNode(o.pl.Node, at+"/dm/uuid", o.how))
	}
	return out
}

// Mounted asks whether the map or anything on it is mounted.
func (o Orphan) Mounted() evidence.Answer { return disk.MountedOver(o.pl, o.Dev) }

// Beside are running disks with the map's WWID that are not below it.
func (o Orphan) Beside() []string {
	beside := evidence.Keep(o.pl.View.Blocks(), func(b *probes.BlockDevice) bool {
		return b.WWID != "" && snapshot.BareWWID(b.WWID) == wwid(o.BlockDevice) && o.pl.View.DeadPath(b.Name) == "" && !slices.Contains(o.Slaves, b.Name) && b.DM == nil
	})
	return evidence.Each(beside, func(b *probes.BlockDevice) string { return b.Name })
}

// Pins asks whether the map keeps an attachment that should go: the volume is to be
// released here, is still attached, and the map is the volume's or nobody else's. Sure
// tells whether it is tied to the volume by more than being the only one.
func (o Orphan) Pins() (why string, sure bool, a evidence.Answer) {
	pl, v := o.pl, o.pl.Volume
	released, why := volume.Released(pl.X, v, pl.Node)
	if !o.Mine && (known(pl) || ofAnother(pl.X, v, pl.View, o.BlockDevice)) {
		return why, false, evidence.No()
	}
	va := v.AttachmentOn(pl.Node)
	sure = o.Mine || va != nil && va.DeletionTimestamp != nil && o.alone()
	attached := evidence.When(len(v.LiveConsumersOn(pl.Node)) == 0 && (pl.X.ReportedInUse(pl.Node, v) || pl.X.ReportedAttached(pl.Node, v)))
	if va != nil {
		attached = evidence.When(va.DeletionTimestamp != nil || len(v.LiveConsumersOn(pl.Node)) == 0,
			evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", fmt.Sprintf("%t on %s", va.Status.Attached, pl.Node)))
	}
	return why, sure, evidence.All(attached, released)
}

// Misleads asks whether a pod waits for the volume here, and its own dead map stands in
// the way: the volume's disk is none of the map's.
func (o Orphan) Misleads() evidence.Answer {
	d, ok := o.pl.X.DeviceOn(o.pl.Volume, o.pl.Node)
	below := ok && d.Block != nil && slices.Contains(o.Slaves, d.Block.Name)
	return evidence.When(o.Mine && volume.Awaited(o.pl.X, o.pl.Volume, o.pl.Node) && !below)
}

// Stranded asks whether it is the volume's own, and neither a pod nor an attachment wants the volume on the node:
// it was taken away by the storage while the node, which has no reason to look, kept the map.
func (o Orphan) Stranded() evidence.Answer {
	pl := o.pl
	d, _ := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !o.Mine || d.Unlike != "" || !d.Proven && named(pl.Volume, o.BlockDevice) == "" || !volume.Deserted(pl) || ofAnother(pl.X, pl.Volume, pl.View, o.BlockDevice) {
		return evidence.No()
	}
	return evidence.All(volume.Unattached(pl), pl.Consumers().Nothing())
}

// Paths are the disks that are still below the map.
func (o Orphan) Paths() []*probes.BlockDevice {
	return evidence.Keep(o.pl.View.Blocks(), func(b *probes.BlockDevice) bool { return slices.Contains(o.Slaves, b.Name) && b.HCTL != "" })
}

// known tells whether the volume's device on the node is known by its identity, or is of
// a kind that never lies under a map: then a map that is not tied to it is another's.
func known(pl *evidence.Place) bool {
	v := pl.Volume
	d, ok := pl.X.DeviceOn(v, pl.Node)
	return ok && d.Proven && d.Block != nil || v.IsLonghorn() || strings.Contains(v.Driver, "rbd") || v.PV != nil && v.PV.Spec.RBD != nil
}

// alone tells whether no other dead map of the node is free.
func (o Orphan) alone() bool {
	free := slices.DeleteFunc(dead(o.pl.View), func(m *probes.BlockDevice) bool { return disk.MountedOver(o.pl, m.Dev).Yes() })
	return len(free) < 2
}

// Above names what lies on the map and pins it.
func (o Orphan) Above() string {
	var out []string
	for _, h := range o.pl.View.HoldersOf(o.Dev) {
		name := h.Device.Name
		if h.Device.DM != nil {
			name = h.Device.DM.Name + " (" + h.Device.Name + ", " + h.Device.DM.UUID + ")"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// Unowned are the dead maps of the place's node that are no volume's, and that keep no
// volume either.
func Unowned(pl *evidence.Place) []Orphan {
	var out []Orphan
	for _, m := range dead(pl.View) {
		if ofAnother(pl.X, nil, pl.View, m) || slices.ContainsFunc(pl.X.VolumesOn(pl.Node), func(v *snapshot.Volume) bool {
			_, _, pins := (Orphan{BlockDevice: m, pl: &evidence.Place{X: pl.X, Volume: v, Node: pl.Node, View: pl.View}}).Pins()
			return pins.Yes()
		}) {
			continue
		}
		out = append(out, Orphan{BlockDevice: m, pl: pl})
	}
	return out
}

// Unused asks whether nobody on the node has the map.
func (o Orphan) Unused() evidence.Answer {
	x, on := o.pl.X, o.pl.Node
	return evidence.All(disk.Unmounted(x, on, o.Dev), disk.Closed(x, on, o.Dev), disk.Bare(x, on, o.Dev, PartitionNames(o.pl.View, o.BlockDevice)...))
}
