package device

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_lun_reused.md
var deviceLUNReusedDoc string

// DeviceLUNReused finds paths that lead to different disks because a LUN number was
// given to another volume while old paths stayed.
var DeviceLUNReused = &diagnosis.Rule{
	Name: "device-lun-reused", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns")},
	Explains: []string{"mount-failed", "volume-io-error", "fsck-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-is-not-the-volume", "filesystem-needs-fsck"},
	Offers:   []string{"unmap-device"},
	Doc:      deviceLUNReusedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Longhorn != nil {
				continue // one target per volume: LUN numbers are never reused
			}
			for _, node := range p.DeviceNodes(v) {
				if view := p.View(node); view != nil && !mixedPaths(p, v, view) && !staleDisk(p, v, view) {
					lunsMoved(p, v, view)
				}
			}
		}
	},
}

// mixedPaths looks at the maps above the volume's disks for slaves with different
// identities.
func mixedPaths(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) (found bool) {
	for i := range view.Facts.Block {
		m := &view.Facts.Block[i]
		if !disk.IsMapped(m, "mpath-") || mountedAbove(view, m.Dev) {
			continue
		}
		right, wrong := splitByWWID(view, v, m)
		if len(right)+len(wrong) == 0 || len(wrong) == 0 || !concerns(p, v, view, m, right, wrong) {
			continue
		}
		reportMixed(p, v, view, m, right, wrong)
		found = true
	}
	return found
}

// splitByWWID sorts a map's slaves into those with the present identity and stale
// ones. The present one is the PV's where the PV states it, else the one whose
// page 83 was read last from the array: the identity that is not the old map's.
func splitByWWID(view *snapshot.NodeView, v *snapshot.Volume, m *probes.BlockDevice) (right, wrong []*probes.BlockDevice) {
	ids := map[string]bool{}
	var slaves []*probes.BlockDevice
	for _, s := range m.Slaves {
		if b := view.ByName(s); b != nil && b.WWID != "" {
			slaves = append(slaves, b)
			ids[bareWWID(b.WWID)] = true
		}
	}
	var stated []string
	for id := range ids {
		stated = append(stated, comparable(volumeWWIDs(v), id)...)
	}
	if len(ids) < 2 && (len(stated) == 0 || len(ids) == 0) {
		return nil, nil
	}
	for _, b := range slaves {
		id := bareWWID(b.WWID)
		switch {
		case len(stated) > 0 && contains(stated, id), len(stated) == 0 && id != mapWWID(m):
			right = append(right, b)
		default:
			wrong = append(wrong, b)
		}
	}
	if len(ids) < 2 && len(right) > 0 {
		return nil, nil // all paths are the volume's
	}
	return right, wrong
}

// concerns tells whether the map stands where the volume's disks are: one of its
// slaves is the volume's device, or has the volume's target and LUN.
func concerns(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice, right, wrong []*probes.BlockDevice) bool {
	if mine, _ := mapOfVolume(p, v, view, m); mine {
		return true
	}
	target, lun := targetOf(v)
	for _, b := range append(append([]*probes.BlockDevice{}, right...), wrong...) {
		s := view.SessionOfDisk(b.Name)
		if target != "" && s != nil && s.Target == target && lunOf(b) == lun {
			return true
		}
	}
	return false
}

// targetOf returns the iSCSI target and LUN that the PV states.
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

// lunOf is the last element of host:channel:target:lun.
func lunOf(b *probes.BlockDevice) string {
	return b.HCTL[strings.LastIndexByte(b.HCTL, ':')+1:]
}

func reportMixed(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice, right, wrong []*probes.BlockDevice) {
	f := p.Find(report.Certain, diagnosis.DeviceSubject(view.Name, m.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, m.Dev)
	var stale, fresh []string
	for _, b := range wrong {
		f.Device(view.Name, b.Dev)
		stale = append(stale, fmt.Sprintf("%s (%s, LUN %s, %s)", b.Name, b.Dev, disk.OrUnknown(lunOf(b)), b.WWID))
		f.Fact(diagnosis.FromNode(view.Name, "sys/class/block/"+b.Name+"/device/wwid", b.WWID))
	}
	for _, b := range right {
		f.Device(view.Name, b.Dev)
		fresh = append(fresh, fmt.Sprintf("%s (%s, LUN %s, %s)", b.Name, b.Dev, disk.OrUnknown(lunOf(b)), b.WWID))
		f.Fact(diagnosis.FromNode(view.Name, "sys/class/block/"+b.Name+"/device/wwid", b.WWID))
	}
	now := "none of them"
	if len(fresh) > 0 {
		now = strings.Join(fresh, ", ")
	}
	f.Sayf("The multipath map %s (%s, %s) on node %s mixes paths to different disks, because a LUN number was given to another volume while old paths stayed. "+
		"Stale: %s. The disk of volume %s: %s. Nothing is mounted from the map.", m.DM.Name, m.Name, m.Dev, view.Name, strings.Join(stale, ", "), volumeName(v), now)
	f.Fact(diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/uuid", m.DM.UUID))
	for _, l := range view.Facts.Kernel {
		if strings.Contains(l.Text, lunsChanged) {
			f.Fact(diagnosis.FromNode(view.Name, "@kmsg", l.Text))
			break
		}
	}
	f.Unless("equal identities of all paths of the map")
	f.Advise(remedy.Words("Stop the pods of this volume. Compare the identity of every path with the array before anything is removed; then remove only the stale paths, drop and rebuild the map, and set node.session.scan = manual so that logins stop scanning every LUN. Write nothing through the mixed map. A check of the filesystem comes later, while it is unmounted."))
	for _, b := range wrong {
		f.Advise(remedy.UnmapSCSI(view, v, b, m.Name))
	}
	p.Report(f)
}
