package attach

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// linksTo lists the links by identity that lead to a device.
func linksTo(view *snapshot.NodeView, dev probes.Dev) []string {
	var out []string
	for _, l := range view.Facts.DevLinks {
		if l.Dev == dev && strings.HasPrefix(l.Path, "/dev/disk/by-id/") {
			out = append(out, l.Path)
		}
	}
	slices.Sort(out)
	return out
}

func orNone(links []string) string {
	if len(links) == 0 {
		return "no link to it"
	}
	return strings.Join(links, ", ")
}

var hostPortal = regexp.MustCompile(`/by-path/ip-([^:]*[A-Za-z][^:]*):\d+-iscsi-`)

// branch says why the name is not made, where that can be seen.
func (s linkScene) branch(b *probes.BlockDevice, expected string) string {
	m := hostPortal.FindStringSubmatch(expected)
	switch {
	case m != nil:
		return "udev names such links by the portal's address, and the volume gives the host name " + m[1] + "."
	case s.withoutIdentifiers():
		return "No virtual disk of this machine shows an identifier, and no wwn- or scsi- link exists: as with disk.EnableUUID switched off."
	case strings.HasPrefix(b.Name, "nvme") && s.byLUN():
		return "It is an NVMe namespace, which has no SCSI LUN to be found by."
	case strings.HasPrefix(b.Name, "nvme"):
		return "udev on this node made no such link for NVMe disks; its rules may be too old for them."
	}
	return "udev on this node made no such link."
}

func (s linkScene) byLUN() bool { return strings.Contains(strings.ToLower(s.text.Raw), "lun") }

// withoutIdentifiers tells whether the machine is one of VMware's whose disks all lack
// identity.
func (s linkScene) withoutIdentifiers() bool {
	vmware := false
	for i := range s.view.Facts.Block {
		b := &s.view.Facts.Block[i]
		vmware = vmware || strings.Contains(b.Vendor, "VMware") && disk.Whole(b)
	}
	for _, l := range s.view.Facts.DevLinks {
		if strings.HasPrefix(l.Path, "/dev/disk/by-id/wwn-") || strings.HasPrefix(l.Path, "/dev/disk/by-id/scsi-") {
			return false
		}
	}
	return vmware
}

func (s linkScene) advice(b *probes.BlockDevice, expected string) remedy.Step {
	switch {
	case hostPortal.MatchString(expected):
		return remedy.Words("Give the portal as an address instead of a host name in a new PersistentVolume (or in the driver's settings).")
	case s.withoutIdentifiers():
		return remedy.Words("Set disk.EnableUUID to TRUE for the virtual machine of node " + s.view.Name + " and power it off and on after draining it; repair the template that it was cloned from.")
	case strings.HasPrefix(b.Name, "nvme") && s.byLUN():
		return remedy.Words("Use a version of the driver that knows NVMe disks, or a machine type with a SCSI controller for this pod (node selector).")
	}
	return remedy.Words("Install the udev rules that the driver documents on node " + s.view.Name + ", or a newer image of the node, and let udev process the disk again (udevadm trigger). The driver's next attempt finds it.")
}

// metadata quotes what the attacher noted for the node side.
func (s linkScene) metadata() string {
	va := s.v.AttachmentOn(s.view.Name)
	if va == nil || len(va.Status.AttachmentMetadata) == 0 {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(va.Status.AttachmentMetadata)) {
		if low := strings.ToLower(k); strings.Contains(low, "lun") || strings.Contains(low, "uuid") || strings.Contains(low, "device") || strings.Contains(low, "serial") {
			out = append(out, fmt.Sprintf("%s %s", k, va.Status.AttachmentMetadata[k]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (the attachment says " + strings.Join(out, ", ") + ")"
}

// appeared quotes the kernel's lines about disks that came up.
func appeared(view *snapshot.NodeView, names []string) []report.Evidence {
	var out []report.Evidence
	for _, l := range view.KernelLines() {
		for _, n := range names {
			if strings.Contains(l.Text, "["+n+"]") {
				out = append(out, diagnosis.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text))
			}
		}
	}
	return out
}
