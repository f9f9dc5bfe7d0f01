package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// multipathMapOn returns the multipath map that claims a disk directly.
func multipathMapOn(view *snapshot.NodeView, dev probes.Dev) *probes.BlockDevice {
	for _, h := range view.HoldersOf(dev) {
		if h.Device != nil && h.Device.DM != nil && strings.HasPrefix(h.Device.DM.UUID, "mpath-") {
			return h.Device
		}
	}
	return nil
}

// mounted tells whether any namespace that was read mounts the device.
func mounted(view *snapshot.NodeView, dev probes.Dev) bool { return len(view.Uses(dev)) > 0 }

// mountedAbove tells whether the device or anything built on it is mounted.
func mountedAbove(view *snapshot.NodeView, dev probes.Dev) bool {
	if mounted(view, dev) {
		return true
	}
	for _, h := range view.HoldersOf(dev) {
		if mounted(view, h.Device.Dev) {
			return true
		}
	}
	return false
}

// usable tells whether a path can carry I/O. Devices without device/state (NVMe
// namespaces, virtio) count as usable while they exist.
func usable(d *probes.BlockDevice) bool {
	return d.State == "" || d.State == "running" || d.State == "live"
}

// volumeName is how a person calls the volume.
func volumeName(v *snapshot.Volume) string {
	if n := v.PVName(); n != "" {
		return n
	}
	return v.Spoken()
}

// deviceName is the path that tools print for the volume's device.
func deviceName(d snapshot.VolumeDevice) string {
	if d.NodePath != "" {
		return d.NodePath
	}
	if d.Block != nil {
		return "/dev/" + d.Block.Name
	}
	return "device " + d.Dev.String()
}

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
