package device

import (
	_ "embed"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed lvm_claims_device.md
var lvmClaimsDeviceDoc string

// LVMClaimsDevice finds logical volumes that the host activated inside a volume.
var LVMClaimsDevice = &diagnosis.Rule{
	Name: "lvm-claims-device", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns")},
	Explains: []string{"mount-busy", "format-failed", "mount-failed", "attach-failed", "unmount-blocked", "detach-stuck", "pod-stuck-terminating", "multi-attach-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"block-volume-unmap-stuck", "crypt-mapper-stale", "device-mapped-on-other-node", "longhorn-migration-inconsistent"},
	Offers:   []string{"vgchange-deactivate"},
	Doc:      lvmClaimsDeviceDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, s := range stacks(p, v) {
				if !lvmHolder(p, &s) {
					lvmScan(p, &s)
				}
			}
		}
	},
}

// lvmHolder reports an LVM holder above the volume's device that nobody mounts.
func lvmHolder(p *diagnosis.Pass, s *stack) bool {
	var lvs []snapshot.Holder
	for _, h := range s.above {
		if hasPrefix(h.Device, "LVM-") {
			if mountedAbove(s.view, h.Device.Dev) {
				return true // somebody uses it on purpose: not this cause
			}
			lvs = append(lvs, h)
		}
	}
	if len(lvs) == 0 {
		return false
	}
	if storageGroup(p, s, lvs[0].Device) {
		return true
	}
	d := s.bottom(lvs[0])
	if d == nil || s.usedByConsumer(p, lvs) {
		return d != nil
	}
	vg, _ := splitLV(lvs[0].Device.DM.Name)
	f := p.Find(report.Certain, diagnosis.DeviceSubject(s.view.Name, d.Dev)).On(s.volume).Located(s.view.Name)
	f.Device(s.view.Name, d.Dev)
	f.Device(s.view.Name, s.device.Dev)
	var names []string
	for _, h := range lvs {
		names = append(names, h.Device.DM.Name)
		f.Fact(
			diagnosis.FromNode(s.view.Name, "sys/class/block/"+h.Device.Name+"/dm/uuid", h.Device.DM.UUID),
			diagnosis.FromNode(s.view.Name, "sys/class/block/"+h.Device.Name+"/slaves", chainText(h)),
		)
	}
	f.Sayf("LVM on node %s activated the volume group %s that lies inside volume %s: %s on %s (%s). The logical volumes hold the device, "+
		"so it cannot be unmapped, detached, mounted or formatted. No mount of them was found in any mount namespace that was read.",
		s.view.Name, vg, volumeName(s.volume), strings.Join(names, ", "), d.Name, d.Dev)
	f.Fact(contentFact(s.view, d.Dev), lvmFilterFact(s.view))
	f.Unless("a consumer of this volume on the node that activated the volume group itself")
	f.Advise(remedy.VgchangeDeactivate(s.view, s.volume, vg, lvs[0].Device, d), preventLVM(s.view.Name))
	p.Report(f)
	return true
}

func preventLVM(node string) remedy.Step {
	return remedy.Words("Keep LVM on node " + node + " away from volumes: in /etc/lvm/lvm.conf set a global_filter that rejects /dev/longhorn/, " +
		"/dev/mapper/pvc-, /dev/loop, /dev/rbd and /dev/drbd (without a trailing accept-all pattern), or use the devices file.")
}

// storageGroup tells whether a volume group is a storage system's own: ceph-volume's,
// or one whose logical volumes are volumes of the cluster (TopoLVM, LVM-localpv).
func storageGroup(p *diagnosis.Pass, s *stack, lv *probes.BlockDevice) bool {
	if vg, _ := splitLV(lv.DM.Name); strings.HasPrefix(vg, "ceph-") {
		return true
	}
	for _, v := range p.Index.Volumes {
		d, ok := p.DeviceOn(v, s.view.Name)
		if ok && d.Proven && hasPrefix(d.Block, "LVM-") && sameGroup(d.Block, lv) {
			return true
		}
	}
	return false
}

// groupLen is how much of a logical volume's uuid in device-mapper names its group:
// "LVM-" and 32 characters; then comes its own.
const groupLen = len("LVM-") + 32

func sameGroup(a, b *probes.BlockDevice) bool {
	return len(a.DM.UUID) >= groupLen && strings.HasPrefix(b.DM.UUID, a.DM.UUID[:groupLen])
}

// splitLV undoes the device-mapper name of a logical volume: one dash separates
// group and volume, two stand for a dash of the name (lvm2, dm-deptree).
func splitLV(name string) (vg, lv string) {
	const mark = "\x00"
	s := strings.ReplaceAll(name, "--", mark)
	vg, lv, _ = strings.Cut(s, "-")
	return strings.ReplaceAll(vg, mark, "-"), strings.ReplaceAll(lv, mark, "-")
}

func contentFact(view *snapshot.NodeView, dev probes.Dev) report.Evidence {
	c, ok := view.Facts.Contents[dev]
	if !ok || c.Type == "" {
		return report.Evidence{}
	}
	return diagnosis.FromNode(view.Name, "@content/"+dev.String(), "TYPE="+c.Type)
}
