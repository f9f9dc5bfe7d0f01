package disk

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// scanners open disks for a moment, or do no harm by it; what they build (a multipath
// map, an array) is seen as a holder.
var scanners = []string{"multipathd", "udev", "systemd-udevd", "(udev-worker)", "blkid", "smartd", "lvm", "pvscan", "vgchange", "mdadm"}

// lvmTools are those of LVM.
var lvmTools = []string{"lvm", "pvscan", "vgchange"}

// Passing tells whether an opener of a disk comes and goes: a thread of the kernel, or a
// scanner of the machine or of the volume's own driver. Everybody can call a process so:
// one that a pod carries, or a user's, is what it is and no scanner.
func Passing(x *snapshot.Index, v *snapshot.Volume, node string, p *probes.Process) bool {
	return p.Kthread || scans(x, v, node, p, scanners)
}

// OfLVM tells whether a process is one of LVM's tools, by the same measure.
func OfLVM(x *snapshot.Index, v *snapshot.Volume, node string, p *probes.Process) bool {
	return scans(x, v, node, p, lvmTools)
}

func scans(x *snapshot.Index, v *snapshot.Volume, node string, p *probes.Process, names []string) bool {
	if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(p.Comm, n) }) {
		return false
	}
	switch p.Standing {
	case probes.OfPod:
		driver := x.DriverPodOn(v.CSIName(), node)
		return driver != nil && string(driver.UID) == p.PodUID
	case probes.OfOther:
		return false
	}
	return true
}
