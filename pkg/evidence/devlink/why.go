package devlink

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// linksTo lists the links by identity that lead to a device.
func linksTo(all []probes.DevLink, dev probes.Dev) []string {
	var out []string
	for _, l := range all {
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

var hostPortal = pattern.MustCompile(`/by-path/ip-([^:]*[A-Za-z][^:]*):\d+-iscsi-`)

// Why says why the name is not made, where that can be seen: "portal" (with its host name),
// "engine" (which makes it itself, longhorn-engine: pkg/util DuplicateDevice), "identifiers", "lun", "nvme" or "udev".
func (m Missing) Why() (kind, host string) {
	nvme := strings.HasPrefix(m.Disk.Name, "nvme")
	if p := hostPortal.FindStringSubmatch(m.Expected); p != nil {
		return "portal", p[1]
	}
	switch {
	case m.pl.Volume.IsLonghorn():
		return "engine", ""
	case m.withoutIdentifiers() && strings.Contains(m.Disk.Vendor+m.Disk.Model, "VMware"): // what comes over a network has its own
		return "identifiers", ""
	case nvme && strings.Contains(strings.ToLower(m.text.Raw), "lun"):
		return "lun", ""
	case nvme:
		return "nvme", ""
	}
	return "udev", ""
}

// Because says it in a sentence.
func (m Missing) Because() string {
	if m.Astray() != nil {
		return "Somebody made that link by hand, or left it behind: what it leads to is not the volume."
	}
	switch kind, host := m.Why(); kind {
	case "portal":
		return "udev names such links by the portal's address, and the volume gives the host name " + host + "."
	case "engine":
		return "Longhorn's engine makes that device node when its frontend starts, and somebody has taken it away since."
	case "identifiers":
		return "No virtual disk of this machine shows an identifier, and no wwn- or scsi- link exists: as with disk.EnableUUID switched off."
	case "lun":
		return "It is an NVMe namespace, which has no SCSI LUN to be found by."
	case "nvme":
		if names := linksTo(m.pl.View.Facts.DevLinks, m.Disk.Dev); len(names) > 0 {
			return "udev gives this NVMe disk other names: " + strings.Join(names, ", ") + "."
		}
		return "udev on this node made no such link for NVMe disks; its rules may be too old for them."
	}
	return "udev on this node made no such link."
}

// Unlinked says which name is missing.
func (m Missing) Unlinked() string {
	if l := m.Astray(); l != nil {
		return l.Path + " leads to " + m.pl.View.Device(l.Dev).Name + ", another disk"
	}
	if m.Expected != "" {
		return m.Expected + ", where it is looked for, is not there"
	}
	return "no link below /dev/disk/by-id leads to it"
}

// Astray is a link of the volume's name that leads to another disk, or nil.
func (m Missing) Astray() *probes.DevLink {
	view := m.pl.View
	for i := range view.Facts.DevLinks {
		l := &view.Facts.DevLinks[i]
		if strings.HasPrefix(l.Path, "/dev/disk/by-id/") && l.Dev != m.Disk.Dev && view.Device(l.Dev) != nil && view.Device(l.Dev).Partition == 0 && m.How != "" && m.pl.Volume.Names(path.Base(l.Path)) {
			return l
		}
	}
	return nil
}

// withoutIdentifiers tells whether the machine is one of VMware's whose disks all lack
// identity.
func (m Missing) withoutIdentifiers() bool {
	linked := slices.ContainsFunc(m.pl.View.Facts.DevLinks, func(l probes.DevLink) bool {
		return strings.HasPrefix(l.Path, "/dev/disk/by-id/wwn-") || strings.HasPrefix(l.Path, "/dev/disk/by-id/scsi-")
	})
	return !linked && slices.ContainsFunc(m.pl.View.Blocks(), func(b *probes.BlockDevice) bool { return strings.Contains(b.Vendor, "VMware") && disk.Whole(b) })
}

// Metadata quotes what the attacher noted for the node side.
func (m Missing) Metadata() string {
	va := m.pl.Volume.AttachmentOn(m.pl.Node)
	if va == nil {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(va.Status.AttachmentMetadata)) {
		low := strings.ToLower(k)
		if evidence.ContainsAny(low, "lun", "uuid", "device", "serial") {
			out = append(out, k+" "+va.Status.AttachmentMetadata[k])
		}
	}
	return strings.Join(out, ", ")
}

// appeared quotes the kernel's lines about disks that came up.
func appeared(node string, lines []probes.KernelLine, names []string) []report.Evidence {
	var out []report.Evidence
	for _, l := range lines {
		for _, n := range names {
			if strings.Contains(l.Text, "["+n+"]") {
				out = append(out, evidence.FromNode(node, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text))
			}
		}
	}
	return out
}
