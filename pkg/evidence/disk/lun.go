package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// LUNsChanged is the kernel's warning about a target (scsi_report_sense in
// drivers/scsi/scsi_error.c): it does not tell which LUN changed.
const LUNsChanged = "LUN assignments on this target have changed"

// Other is a disk at the volume's target and LUN whose identity is not the volume's: it was
// left by another LUN of that number, or the number was given away under it.
type Other struct {
	*probes.BlockDevice
	Why string
	Is  evidence.Answer
}

// OthersAt are such disks at the place of the place's volume.
func OthersAt(pl *evidence.Place) []Other {
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || !d.Proven || d.Block == nil {
		return nil
	}
	disks := d.Paths
	if len(disks) == 0 {
		disks = []*probes.BlockDevice{d.Block}
	}
	var out []Other
	for _, b := range disks {
		why, fact := foreignIdentity(pl, b)
		if why != "" {
			out = append(out, Other{b, why, evidence.Yes(
				evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/device/wwid", b.WWID), fact, evidence.FromNode(pl.Node, d.Locator, d.How))})
		}
	}
	return out
}

// foreignIdentity tells why a disk is not the one that it seems to be: the kernel's cached
// WWID is not that of page 0x83 now, or it has another WWID than the PV states.
func foreignIdentity(pl *evidence.Place, b *probes.BlockDevice) (why string, fact report.Evidence) {
	id := snapshot.BareWWID(b.WWID)
	stated := Comparable(pl.Volume.WWIDs(), id)
	typed := strings.HasPrefix(b.WWID, "naa.") || strings.HasPrefix(b.WWID, "eui.")
	switch {
	case !typed || len(id) < identityLength:
	case b.VPD83 != "" && !strings.Contains(strings.ToLower(b.VPD83), id):
		return "the kernel remembers the identity " + b.WWID + ", the disk itself tells another one (page 0x83)",
			evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/device/vpd_pg83", b.VPD83)
	case len(stated) > 0 && !slices.Contains(stated, id):
		return "its identity is " + b.WWID + ", the volume's is " + strings.Join(stated, ", "),
			evidence.FromAPI("PersistentVolume "+pl.Volume.PVName(), "spec", strings.Join(stated, ", "))
	}
	return "", report.Evidence{}
}

// Warned asks whether the kernel said of the target of the volume's disk, since the volume
// came to the node, that its LUN numbers lead to other disks.
func Warned(pl *evidence.Place) (b *probes.BlockDevice, a evidence.Answer) {
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if !ok || d.Block == nil || d.Block.HCTL == "" {
		return nil, evidence.No()
	}
	target := "sd " + d.Block.HCTL[:strings.LastIndexByte(d.Block.HCTL, ':')+1]
	for _, l := range pl.View.Facts.Kernel {
		if strings.Contains(l.Text, LUNsChanged) && strings.Contains(l.Text, target) && l.At.After(pl.X.VolumeChanged(pl.Volume, pl.Node)) {
			return d.Block, evidence.Yes(evidence.FromNode(pl.Node, "@kmsg", l.Text))
		}
	}
	return d.Block, evidence.No()
}
