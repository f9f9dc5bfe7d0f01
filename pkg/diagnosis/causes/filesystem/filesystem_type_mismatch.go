package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_type_mismatch.md
var filesystemTypeMismatchDoc string

// TypeMismatch finds devices that hold something else than the filesystem that their
// PersistentVolume names.
var TypeMismatch = &diagnosis.Rule{
	Name: "filesystem-type-mismatch", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("devnode"), diagnosis.Probe("content")},
	Explains: []string{"mount-failed", "format-failed", "pod-waiting-for-volume"},
	YieldsTo: []string{"device-renumbered", "device-is-not-the-volume", "device-lun-reused", "multipath-claims-device"},
	Doc:      filesystemTypeMismatchDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !v.Block() && v.PV != nil && len(v.Waiting()) > 0 {
				typeMismatch(p, v)
			}
		}
	},
}

// The words of mount-utils (formatAndMountSensitive) and of mount(8) for ENODEV.
var (
	alreadyContains = regexp.MustCompile(`failed to mount the volume as \\?"([^"\\]+)\\?", it already contains (unknown data, probably partitions|[A-Za-z0-9_]+)`)
	unknownType     = regexp.MustCompile(`unknown filesystem type '([A-Za-z0-9_]+)'`)
)

// noFilesystem are signatures that mount(8) passes on as a type although no kernel
// can mount them.
var noFilesystem = []string{"crypto_LUKS", "LVM2_member", "linux_raid_member", "swap"}

// saidType is what a fresh text says that the device holds, and what was asked for.
func saidType(p *diagnosis.Pass, v *snapshot.Volume) (t diagnosis.Text, want, holds string) {
	for _, t := range p.Texts(v) {
		if !t.Fresh {
			continue
		}
		if m := alreadyContains.FindStringSubmatch(t.Raw); m != nil && m[2] != "mpath_member" {
			return t, m[1], m[2]
		}
		if m := unknownType.FindStringSubmatch(t.Raw); m != nil && slices.Contains(noFilesystem, m[1]) {
			return t, "", m[1]
		}
	}
	return diagnosis.Text{}, "", ""
}

func typeMismatch(p *diagnosis.Pass, v *snapshot.Volume) {
	t, want, said := saidType(p, v)
	if want == "" {
		want = v.FSType()
	}
	if said == "crypto_LUKS" && v.Encrypted() {
		return
	}
	seen := false
	for _, c := range carriers(p, v) {
		if len(c.uses) > 0 || gone(c.block) || t.Node != "" && t.Node != c.view.Name || len(c.view.HoldersOf(c.block.Dev)) > 0 || c.view.Swap(c.block.Dev) != nil {
			seen = true // mounted, away, or in other hands: its content is not what fails
			continue
		}
		seen = true
		x := c.view.Facts.Contents[c.block.Dev]
		if mismatch(v, want, x.Type) || said != "" && (x.Type == "" || x.Type == "none" && strings.Contains(said, "partitions")) && c.means(t) {
			reportMismatch(p, c, mismatched{t, want, said, x})
			return
		}
	}
	if seen || said == "" {
		if !seen && slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool { return t.Fresh && t.Is(message.WrongFSType) }) {
			for _, node := range p.DeviceNodes(v) {
				p.Probed(node)
			}
		}
		return
	}
	node, certainty := t.Node, report.Possible
	if namedByPV(v, t.Devices...) {
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Located(node).Fact(t.Evidence())
	p.Probed(node)
	for _, w := range v.WaitingOn(node) {
		f.Pod(w.Pod)
	}
	if certainty == report.Certain {
		f.Sayf("Volume %s cannot be mounted%s on node %s: the device that its PersistentVolume names holds %s.", volumeName(v), as(want), node, said)
	} else {
		f.Sayf("Volume %s cannot be mounted%s on node %s: the device that the driver took holds %s. Whether that device is the volume's was not seen.", volumeName(v), as(want), node, said)
		f.Missing("the identity and the content of the device on node " + node)
	}
	finishMismatch(p, v, f, said, want)
}

// mismatched is what was asked for, what was said, and what was read.
type mismatched struct {
	text       diagnosis.Text
	want, said string
	content    probes.Content
}

func reportMismatch(p *diagnosis.Pass, c carrier, m mismatched) {
	certainty := report.Certain
	known := c.device.Proven || c.localDevice()
	if !known {
		certainty = report.Possible
	}
	holds := m.content.Type
	if holds == "" || holds == "none" {
		holds = m.said
	}
	f := p.Find(certainty, diagnosis.ObjectSubject("PersistentVolume", "", c.volume.PVName()))
	c.about(f)
	text := fmt.Sprintf("Volume %s is to be mounted%s, and its device %s on node %s holds %s.", volumeName(c.volume), as(m.want), c.name(), c.view.Name, holds)
	if known {
		text += fmt.Sprintf(" The device is the volume's (%s), so what it holds is what somebody once put there; nothing is damaged.", c.device.How)
	}
	f.Sayf("%s", text)
	if fs := c.volume.FSType(); fs != "" {
		f.Fact(diagnosis.FromAPI("PersistentVolume "+c.volume.PVName(), "fsType", fs))
	}
	if m.content.Type != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+c.block.Dev.String(), strings.TrimSpace("TYPE="+m.content.Type+" UUID="+m.content.UUID)))
	}
	if m.text.Raw != "" {
		f.Fact(m.text.Evidence())
	}
	f.Fact(diagnosis.FromNode(c.view.Name, c.device.Locator, c.device.How))
	if !known {
		f.Missing("that " + c.block.Name + " is the volume's disk (serial, WWID or target)")
	}
	finishMismatch(p, c.volume, f, holds, m.want)
}

func finishMismatch(p *diagnosis.Pass, v *snapshot.Volume, f *diagnosis.Finding, holds, want string) {
	f.Unless("a device of another identity under the volume's name, or a content that the PersistentVolume names")
	if slices.Contains([]string{"ext2", "ext3", "ext4", "xfs", "btrfs"}, holds) {
		f.Advise(remedy.Words(fmt.Sprintf("When the data is wanted: a PersistentVolume with fsType %s for the same volume handle. The field cannot be changed in place: set reclaim policy Retain, scale the workload to 0, and make PersistentVolume and claim anew.", holds)))
	} else {
		f.Advise(remedy.Words("Find out who put " + holds + " there and whether it is wanted: a volume of a virtual machine belongs in a claim with volumeMode Block, a LUKS device in an encrypted one."))
	}
	if want != "" {
		f.Advise(remedy.Words("Or copy the data into a new volume with " + want + " (mounted by hand on a node, read-only, as " + holds + "). Nothing may be formatted over it."))
	}
	p.Report(f)
}

// mismatch tells whether content that was read is not what the PV asks for. ext2 to
// ext4 are one family to the kernel's driver; what was never formatted, belongs to a
// map, or is encrypted by design contradicts nothing.
func mismatch(v *snapshot.Volume, want, holds string) bool {
	switch {
	case holds == "" || holds == "none" || holds == "mpath_member" || holds == want:
		return false
	case slices.Contains(noFilesystem, holds):
		return !(holds == "crypto_LUKS" && v.Encrypted())
	case want == "" || strings.HasPrefix(want, "ext") && strings.HasPrefix(holds, "ext"):
		return false
	}
	return !attributesName(v, holds)
}

// namedByPV tells whether devices are what the path of a local PersistentVolume names:
// then each is the volume by definition, whatever disk has its name now.
func namedByPV(v *snapshot.Volume, devices ...string) bool {
	return v.PV.Spec.Local != nil && slices.Contains(devices, v.PV.Spec.Local.Path)
}

// localDevice tells whether the device was found at the path of a local PersistentVolume.
func (c carrier) localDevice() bool {
	return c.volume.PV.Spec.Local != nil && strings.HasPrefix(c.device.How, "device "+c.volume.PV.Spec.Local.Path)
}

// attributesName tells whether the driver was told the filesystem in attributes of its
// own; it then overrules fsType.
func attributesName(v *snapshot.Volume, fs string) bool {
	if v.PV.Spec.CSI == nil {
		return false
	}
	for _, a := range v.PV.Spec.CSI.VolumeAttributes {
		if a == fs {
			return true
		}
	}
	return false
}

// means tells whether a text speaks of this device: it names it, or none that leads
// elsewhere on this node.
func (c carrier) means(t diagnosis.Text) bool {
	for _, path := range t.Devices {
		if !c.named(path) {
			return false
		}
	}
	return true
}

func as(fs string) string {
	if fs == "" {
		return ""
	}
	return " as " + fs
}
