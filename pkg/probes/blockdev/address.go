package blockdev

import (
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// addresses finds HOST:CHANNEL:TARGET:LUN of SCSI disks: in the link of the entry
// or of its device, in device/scsi_device, or else among the iSCSI sessions.
func addresses(h host.Host, all []probes.BlockDevice) {
	missing := map[string]*probes.BlockDevice{}
	for i := range all {
		d := &all[i]
		if d.Partition != 0 || !strings.HasPrefix(d.Name, "sd") && !strings.HasPrefix(d.Name, "sr") {
			continue
		}
		d.HCTL = direct(h, entry(d.Name))
		if d.HCTL == "" {
			missing[d.Name] = d
		}
	}
	if len(missing) > 0 {
		fromSCSI(h, missing)
		fromSessions(h, missing)
	}
}

func direct(h host.Host, dir string) string {
	for _, link := range []string{dir, dir + "/device"} {
		target, err := h.ReadLink(link)
		if err != nil {
			continue
		}
		for _, part := range strings.Split(target, "/") {
			if IsHCTL(part) {
				return part
			}
		}
	}
	names, _ := h.ReadDir(dir + "/device/scsi_device")
	for _, n := range names {
		if IsHCTL(n) {
			return n
		}
	}
	return ""
}

// fromSCSI looks through sys/class/scsi_device/H:C:T:L/device/block/NAME.
func fromSCSI(h host.Host, missing map[string]*probes.BlockDevice) {
	const class = "sys/class/scsi_device"
	addresses, _ := h.ReadDir(class)
	for _, hctl := range addresses {
		if !IsHCTL(hctl) {
			continue
		}
		disks, _ := h.ReadDir(path.Join(class, hctl, "device/block"))
		assign(missing, disks, hctl)
	}
}

// fromSessions looks through iscsi_session/session3/device/target3:0:0/3:0:0:1/block/sdb.
func fromSessions(h host.Host, missing map[string]*probes.BlockDevice) {
	const class = "sys/class/iscsi_session"
	sessions, _ := h.ReadDir(class)
	for _, s := range sessions {
		device := path.Join(class, s, "device")
		targets, _ := h.ReadDir(device)
		for _, t := range targets {
			if !strings.HasPrefix(t, "target") {
				continue
			}
			units, _ := h.ReadDir(path.Join(device, t))
			for _, hctl := range units {
				if IsHCTL(hctl) {
					disks, _ := h.ReadDir(path.Join(device, t, hctl, "block"))
					assign(missing, disks, hctl)
				}
			}
		}
	}
}

func assign(missing map[string]*probes.BlockDevice, disks []string, hctl string) {
	for _, n := range disks {
		if d := missing[n]; d != nil && d.HCTL == "" {
			d.HCTL = hctl
		}
	}
}

// IsHCTL tells whether a name has the form "0:0:0:1".
func IsHCTL(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) != 4 {
		return false
	}
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return false
		}
	}
	return true
}
