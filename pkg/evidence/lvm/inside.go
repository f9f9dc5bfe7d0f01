package lvm

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Found are the logical volumes that lie on a volume's device.
type Found struct {
	Group  string
	Names  []string
	LVs    []*probes.BlockDevice
	Bottom *probes.BlockDevice // what they hold
	facts  []report.Evidence
}

// FoundOn finds logical volumes above a volume's device.
func FoundOn(pl *evidence.Place, t *disk.Tower) (Found, bool) {
	var out Found
	for _, h := range t.Above {
		if !disk.IsMapped(h.Device, "LVM-") {
			continue
		}
		if out.Bottom == nil {
			out.Bottom = t.Bottom(h)
			out.Group, _ = split(h.Device.DM.Name)
		}
		at := "sys/class/block/" + h.Device.Name
		out.LVs, out.Names = append(out.LVs, h.Device), append(out.Names, h.Device.DM.Name)
		out.facts = append(out.facts, evidence.FromNode(pl.Node, at+"/dm/uuid", h.Device.DM.UUID), evidence.FromNode(pl.Node, at+"/slaves", disk.Chain(h)))
	}
	return out, out.Bottom != nil
}

// Active asks whether the host has activated them.
func (f Found) Active() evidence.Answer { return evidence.Yes(f.facts...) }

// Mounted asks whether somebody has mounted one of them, on purpose.
func (f Found) Mounted(pl *evidence.Place) evidence.Answer {
	out := evidence.Each(f.LVs, func(lv *probes.BlockDevice) evidence.Answer { return disk.MountedOnPurpose(pl, lv.Dev) })
	return evidence.Any(out...)
}

// OfStorage asks whether the group is a storage system's own: ceph-volume's, or one whose
// logical volumes are volumes of the cluster (TopoLVM, LVM-localpv).
func (f Found) OfStorage(pl *evidence.Place) evidence.Answer {
	if strings.HasPrefix(f.Group, "ceph-") {
		return evidence.Yes()
	}
	for _, v := range pl.X.Volumes {
		d, ok := pl.X.DeviceOn(v, pl.Node)
		if ok && d.Proven && disk.IsMapped(d.Block, "LVM-") && sameGroup(d.Block, f.LVs[0]) {
			return evidence.Yes(evidence.FromNode(pl.Node, d.Locator, d.How))
		}
	}
	return evidence.Resource(pl.X, "/persistentvolumes").Found()
}

func sameGroup(a, b *probes.BlockDevice) bool {
	return len(a.DM.UUID) >= groupEnd && strings.HasPrefix(b.DM.UUID, a.DM.UUID[:groupEnd])
}

// split undoes the device-mapper name of a logical volume: one dash separates group and
// volume, two stand for a dash of the name (lvm2, dm-deptree).
func split(name string) (vg, lv string) {
	const mark = "\x00"
	s := strings.ReplaceAll(name, "--", mark)
	vg, lv, _ = strings.Cut(s, "-")
	return strings.ReplaceAll(vg, mark, "-"), strings.ReplaceAll(lv, mark, "-")
}
