package device

import (
	_ "embed"
	"fmt"
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
	adviseLVM(p, f, s, vg, lvs)
	p.Report(f)
	return true
}

// adviseLVM offers to deactivate the one group when nothing on the node uses it.
func adviseLVM(p *diagnosis.Pass, f *diagnosis.Finding, s *stack, vg string, lvs []snapshot.Holder) {
	switch user := lvUser(s.view, lvs); {
	case user != "":
		f.Advise(remedy.Words("Stop the guest first: " + user + " has a logical volume open. Deactivating the group under it destroys its data."))
	case s.podLives():
		f.Advise(remedy.Words("A pod that uses the volume still runs on node " + s.view.Name + ". Stop it before the volume group " + vg + " is deactivated."))
	case !s.view.AllNamespacesRead():
		f.Advise(remedy.Words("Some mount namespaces of the node could not be read: make sure that none of them mounts a logical volume of " + vg + " before the group is deactivated."))
	case groupElsewhere(s, lvs[0].Device) != "":
		f.Advise(remedy.Words("The volume group " + vg + " does not lie on this volume alone, or is in use: see to " + groupElsewhere(s, lvs[0].Device) + " before the group is deactivated."))
	default:
		f.Advise(remedy.VgchangeDeactivate(s.view.Name, vg,
			fmt.Sprintf("no logical volume of %s is mounted in any namespace, no process has one open, and its physical volume is %s", vg, s.bottom(lvs[0]).Name)))
	}
	f.Advise(preventLVM(s.view.Name))
}

func preventLVM(node string) report.Remedy {
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

// groupElsewhere names a logical volume of the same group that is mounted, open, or
// lies on another disk than this volume's.
func groupElsewhere(s *stack, lv *probes.BlockDevice) string {
	for i := range s.view.Facts.Block {
		b := &s.view.Facts.Block[i]
		if !hasPrefix(b, "LVM-") || !sameGroup(b, lv) {
			continue
		}
		if mountedAbove(s.view, b.Dev) || len(s.view.Openers(b.Dev)) > 0 {
			return b.DM.Name
		}
		for _, leaf := range s.view.Leaves(b.Dev) {
			if !s.rests(leaf.Dev) {
				return b.DM.Name + " on " + leaf.Name
			}
		}
	}
	return ""
}

// lvUser names a process that has one of the logical volumes open.
func lvUser(view *snapshot.NodeView, lvs []snapshot.Holder) string {
	for _, h := range lvs {
		for _, o := range view.Openers(h.Device.Dev) {
			return fmt.Sprintf("process %d (%s)", o.Process.PID, o.Process.Comm)
		}
	}
	return ""
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
