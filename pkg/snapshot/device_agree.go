package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// agreeing leaves out the disks that a target and a number lead to on nodes that do not have the
// volume, where their WWIDs are others than on the nodes that have it: a LUN's number is given to
// the next volume, and a node that was not told keeps the former disk under it. The kernel reads a
// WWID from the disk itself (sysfs device/wwid: VPD page 0x83, drivers/scsi/scsi_lib.c), so of one
// disk it is one on all nodes.
func (x *Index) agreeing(v *Volume, all []VolumeDevice) []VolumeDevice {
	var own []string
	for _, d := range all {
		if va := v.AttachmentOn(d.Node); va != nil && va.Status.Attached && va.DeletionTimestamp == nil || len(v.LiveConsumersOn(d.Node)) > 0 {
			own = append(own, d.wwids()...)
		}
	}
	return slices.DeleteFunc(all, func(d VolumeDevice) bool {
		have := d.wwids()
		alike := func(id string) bool {
			return slices.ContainsFunc(own, func(o string) bool { return sameForm(o, id) })
		}
		return slices.ContainsFunc(have, alike) && !slices.ContainsFunc(have, func(id string) bool { return slices.Contains(own, id) })
	})
}

// sameForm tells whether two WWIDs are of one kind (naa, eui, t10, uuid) and length, so that they are
// equal if their disks are.
func sameForm(a, b string) bool {
	kind, _, _ := strings.Cut(a, ".")
	other, _, _ := strings.Cut(b, ".")
	return kind == other && len(a) == len(b)
}

// SameWWID tells whether two nodes read one WWID from what is held for the volume's disk.
func (d VolumeDevice) SameWWID(o VolumeDevice) bool {
	return slices.ContainsFunc(d.wwids(), func(id string) bool { return slices.Contains(o.wwids(), id) })
}

// wwids are those of the disk and of its paths.
func (d VolumeDevice) wwids() []string {
	var out []string
	for _, b := range append([]*probes.BlockDevice{d.Block}, d.Paths...) {
		if b != nil && b.WWID != "" {
			out = append(out, strings.ToLower(b.WWID))
		}
	}
	return out
}
