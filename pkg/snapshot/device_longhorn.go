package snapshot

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

const (
	longhornIQN = "iqn.2019-10.io.longhorn:"
	longhornNQN = "nqn.2023-01.io.longhorn.spdk:"
)

// LonghornTarget is the IQN of a Longhorn v1 volume; "_" is not legal in one
// (go-iscsi-helper, iscsidev).
func LonghornTarget(volume string) string {
	return longhornIQN + strings.ReplaceAll(volume, "_", ":")
}

func longhornNode(v *Volume) string { return "/dev/longhorn/" + v.Handle }

// longhornDevice finds D of a Longhorn volume: the disk of its iSCSI session or
// NVMe subsystem, else its device node, which is a copy that may be stale.
func longhornDevice(view *NodeView, v *Volume) (match, bool) {
	if !v.IsLonghorn() {
		return match{}, false
	}
	if m, ok := longhornSession(view, v); ok {
		return m, true
	}
	if m, ok := longhornNVMe(view, v); ok {
		return m, true
	}
	if m, ok := longhornLinear(view, v); ok {
		return m, true
	}
	if n := view.DeviceNode(longhornNode(v)); n != nil {
		return match{dev: n.Dev, how: "device node " + n.Path, locator: n.Path[1:]}, true
	}
	return match{}, false
}

// longhornSession takes LUN 1 of the volume's session; LUN 0 is the controller.
func longhornSession(view *NodeView, v *Volume) (match, bool) {
	for _, s := range view.SessionsOf(LonghornTarget(v.Handle)) {
		for i, name := range s.Disks {
			b := view.ByName(name)
			if b == nil || b.Dev.IsZero() || lunOf(s, i, b) == "0" && len(s.Disks) > 1 {
				continue
			}
			return match{
				dev: b.Dev, proven: true,
				how:     "disk " + name + " of iSCSI session " + s.Name + " of " + s.Target,
				locator: "sys/class/iscsi_session/" + s.Name,
			}, true
		}
	}
	return match{}, false
}

// lunOf is the last number of host:channel:target:lun, or empty.
func lunOf(s *probes.ISCSISession, i int, b *probes.BlockDevice) string {
	hctl := b.HCTL
	if i < len(s.HCTLs) && s.HCTLs[i] != "" {
		hctl = s.HCTLs[i]
	}
	return hctl[strings.LastIndex(hctl, ":")+1:]
}

// longhornNVMe takes the disk of the volume's subsystem (data engine v2).
func longhornNVMe(view *NodeView, v *Volume) (match, bool) {
	for i := range view.Facts.NVMe {
		s := &view.Facts.NVMe[i]
		if !ofVolume(v, s.NQN) {
			continue
		}
		for _, name := range s.Namespaces {
			if b := view.ByName(name); b != nil && !b.Dev.IsZero() {
				return match{
					dev: b.Dev, proven: true,
					how:     "disk " + name + " of NVMe subsystem " + s.NQN,
					locator: "sys/class/nvme-subsystem/" + s.Name,
				}, true
			}
		}
	}
	return match{}, false
}

// ofVolume tells whether a subsystem is the volume's. Until Longhorn 1.11 it is named
// after the engine, since 1.12 after the volume, so that the target may move to another
// engine while the device stays (longhorn-spdk-engine, pkg/spdk/enginefrontend.go); the
// frontend's paths name it, too. A replica has a subsystem of its own (-r-).
func ofVolume(v *Volume, nqn string) bool {
	name, ok := strings.CutPrefix(nqn, longhornNQN)
	if !ok {
		return false
	}
	if name == v.Handle || name == "volume-"+v.Handle || strings.HasPrefix(name, v.Handle+"-e-") {
		return true
	}
	return slices.ContainsFunc(v.Longhorn.Frontends, func(f *LHEngineFrontend) bool {
		return slices.ContainsFunc(f.Paths, func(p LHFrontendPath) bool { return p.NQN == nqn })
	})
}

// longhornLinear takes the disk below the map that is named like the volume
// (data engine v2: nvme or ublk); only its name tells, so it proves nothing.
func longhornLinear(view *NodeView, v *Volume) (match, bool) {
	if lh := v.LH(); lh == nil || lh.DataEngine != "v2" {
		return match{}, false
	}
	for _, b := range view.Blocks() {
		if b.DM == nil || b.DM.Name != v.Handle || b.DM.UUID != "" {
			continue
		}
		dev := b.Dev
		if leaves := view.Leaves(b.Dev); len(leaves) == 1 && !leaves[0].Dev.IsZero() {
			dev = leaves[0].Dev
		}
		return match{dev: dev, how: "disk below the map " + b.DM.Name, locator: "sys/class/block/" + b.Name + "/slaves"}, true
	}
	return match{}, false
}
