package multipath

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Mixed is a map whose paths lead to different disks, or to another one than the
// volume's.
type Mixed struct {
	Map          *probes.BlockDevice
	pl           *evidence.Place
	Right, Wrong []*probes.BlockDevice
}

// foreign are the words of drivers that compared a map's identity with the volume's: IBM, NetApp's
// Trident, Dot Hill. Trident says it of a serial that it cannot decode, too (NetApp/trident#941).
var foreign = pattern.MustCompile(`BUT sg_inq identify this device as a different WWN|multipath device '[^']*' serial check failed|devices WWIDs differ`)

// SaidForeign asks whether the driver freshly says that it found another disk's map at the volume's place.
func SaidForeign(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return foreign.MatchString(t.Raw) })
}

// MixedOf finds such maps where the disks of the place's volume are.
func MixedOf(pl *evidence.Place) []Mixed {
	var out []Mixed
	for _, b := range pl.View.Blocks() {
		m := Mixed{Map: b, pl: pl}
		if !disk.IsMapped(m.Map, "mpath-") {
			continue
		}
		if m.split(); len(m.Wrong) > 0 && m.concerns() {
			out = append(out, m)
		}
	}
	return out
}

// split sorts a map's disks into those with the present identity and stale ones. The
// present one is the PV's where the PV states it, else the one whose page 83 was read last
// from the array: the identity that is not the old map's.
func (m *Mixed) split() {
	ids := map[string]bool{}
	var slaves []*probes.BlockDevice
	for _, s := range m.Map.Slaves {
		if b := m.pl.View.ByName(s); b != nil && b.WWID != "" {
			slaves = append(slaves, b)
			ids[snapshot.BareWWID(b.WWID)] = true
		}
	}
	var stated []string
	for id := range ids {
		stated = append(stated, disk.Comparable(m.pl.Volume.WWIDs(), id)...)
	}
	if len(ids) < 2 && len(stated) == 0 {
		return
	}
	for _, b := range slaves {
		id := snapshot.BareWWID(b.WWID)
		switch {
		case len(stated) > 0 && slices.Contains(stated, id), len(stated) == 0 && id != wwid(m.Map):
			m.Right = append(m.Right, b)
		default:
			m.Wrong = append(m.Wrong, b)
		}
	}
}

// concerns tells whether the map stands where the volume's disks are: one of its paths is
// the volume's device, or has the volume's target and LUN.
func (m *Mixed) concerns() bool {
	if mine, _ := of(m.pl.X, m.pl.Volume, m.pl.View, m.Map); mine {
		return true
	}
	target, lun := targetOf(m.pl.Volume)
	return slices.ContainsFunc(slices.Concat(m.Right, m.Wrong), func(b *probes.BlockDevice) bool {
		s := m.pl.View.SessionOfDisk(b.Name)
		return target != "" && s != nil && s.Target == target && disk.LUN(b) == lun
	})
}

// targetOf is the iSCSI target and LUN that the PV states.
func targetOf(v *snapshot.Volume) (iqn, lun string) {
	if v.PV == nil {
		return "", ""
	}
	if s := v.PV.Spec.ISCSI; s != nil {
		return s.IQN, fmt.Sprint(s.Lun)
	}
	if c := v.PV.Spec.CSI; c != nil {
		for _, k := range []string{"iqn", "targetIQN", "targetIqn", "target"} {
			if c.VolumeAttributes[k] != "" {
				return c.VolumeAttributes[k], c.VolumeAttributes["lun"]
			}
		}
	}
	return "", ""
}

// Is asks whether the identities differ, and quotes them, with the kernel's warning when
// there is one.
func (m Mixed) Is() evidence.Answer {
	var facts []report.Evidence
	for _, b := range slices.Concat(m.Wrong, m.Right) {
		facts = append(facts, evidence.FromNode(m.pl.Node, "sys/class/block/"+b.Name+"/device/wwid", b.WWID))
	}
	facts = append(facts, evidence.FromNode(m.pl.Node, "sys/class/block/"+m.Map.Name+"/dm/uuid", m.Map.DM.UUID))
	for _, l := range m.pl.View.Facts.Kernel {
		if strings.Contains(l.Text, disk.LUNsChanged) {
			facts = append(facts, evidence.FromNode(m.pl.Node, "@kmsg", l.Text))
			break
		}
	}
	return evidence.Yes(facts...)
}

// Titles are disks with their LUN numbers and identities.
func Titles(disks []*probes.BlockDevice) string {
	out := evidence.Each(disks, func(b *probes.BlockDevice) string {
		return fmt.Sprintf("%s (%s, LUN %s, %s)", b.Name, b.Dev, disk.OrUnknown(disk.LUN(b)), b.WWID)
	})
	if len(out) == 0 {
		return "none of them"
	}
	return strings.Join(out, ", ")
}
