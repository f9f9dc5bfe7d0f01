package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_feature_unsupported.md
var filesystemFeatureUnsupportedDoc string

// FeatureUnsupported finds filesystems that are newer than the kernel, or than the
// tool that shall check them.
var FeatureUnsupported = &diagnosis.Rule{
	Name: "filesystem-feature-unsupported", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Explains: []string{"mount-failed", "fsck-failed", "pod-waiting-for-volume", "share-manager-failing"},
	Doc:      filesystemFeatureUnsupportedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			list := carriers(p, v)
			for _, c := range list {
				kernelTooOld(p, c)
			}
			toolTooOld(p, v, list)
		}
	},
}

// kernelTooOld reports what the kernel itself refused on this device.
func kernelTooOld(p *diagnosis.Pass, c carrier) {
	if len(c.uses) > 0 {
		return
	}
	lines := c.freshLines(kmsg.UnsupportedFeature)
	if len(lines) == 0 {
		newerThanKernel(p, c)
		return
	}
	l := lines[len(lines)-1]
	for _, x := range lines { // XFS adds a line that names no feature
		if xfsFeature.MatchString(x.Text) || ext4Feature.MatchString(x.Text) {
			l = x
		}
	}
	release := c.view.Facts.Identity.Kernel
	f := p.Find(report.Certain, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
	c.about(f)
	f.Sayf("The kernel %s of node %s is older than the filesystem of volume %s on %s: it does not know the feature %s and refuses to mount it. Nothing is damaged; the event's words about a bad superblock are what mount says for every refusal.",
		release, c.view.Name, volumeName(c.volume), c.name(), featureOf(l.Text))
	f.Fact(evidence.FromKernel(c.view.Name, l), diagnosis.FromNode(c.view.Name, "proc/sys/kernel/osrelease", release))
	if x, ok := c.view.Facts.Contents[c.block.Dev]; ok && x.Extra["FEATURES"] != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+c.block.Dev.String(), "FEATURES="+x.Extra["FEATURES"]))
	}
	f.Unless("a mount of this device by the same kernel")
	f.Advise(
		remedy.Words("Run the pod on a node with a newer kernel, or boot a newer one on node "+c.view.Name+"."),
		remedy.Words("For new volumes leave the feature out when the filesystem is made (the driver's mkfs options, a mkfsParams or similar parameter of the StorageClass); an empty volume may then be made anew. Repair tools do not help here, and nothing may be formatted over data."),
	)
	p.Report(f)
}

// freshLines are the lines about the device since it came up under its name, also by
// a mapping of an RBD image.
func (c carrier) freshLines(kinds ...string) []probes.KernelLine {
	mapped := int64(0)
	for _, l := range c.view.KernelLines(kmsg.RBDMapped) {
		if slices.Contains(l.Names, c.block.Name) {
			mapped = l.Micros
		}
	}
	return slices.DeleteFunc(c.lines(kinds...), func(l probes.KernelLine) bool { return l.Micros < mapped })
}

var (
	xfsFeature  = regexp.MustCompile(`unknown (read-only |incompatible |compatible )*(?:compatible |incompatible )?features \(0x([0-9a-fA-F]+)\)`)
	ext4Feature = regexp.MustCompile(`unsupported optional features \(([^)]*)\)`)
)

// The bits of XFS superblocks (fs/xfs/libxfs/xfs_format.h).
var (
	xfsReadOnlyCompatible = []string{"finobt", "rmapbt", "reflink", "inobtcount"}
	xfsIncompatible       = []string{"ftype", "sparse inodes", "meta_uuid", "bigtime", "needsrepair", "nrext64", "exchange-range", "parent pointers", "metadir", "zoned"}
)

// featureOf names the feature in a kernel's refusal.
func featureOf(text string) string {
	if m := ext4Feature.FindStringSubmatch(text); m != nil {
		return m[1] + " (bits of ext4)"
	}
	m := xfsFeature.FindStringSubmatch(text)
	if m == nil {
		return "that it names (" + strings.TrimSpace(text) + ")"
	}
	bits, err := strconv.ParseUint(m[2], 16, 32)
	if err != nil {
		return "0x" + m[2]
	}
	known := xfsIncompatible
	if strings.Contains(text, "read-only compatible") {
		known = xfsReadOnlyCompatible
	}
	var names []string
	for i, n := range known {
		if bits&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "0x" + m[2]
	}
	return "0x" + m[2] + " (" + strings.Join(names, ", ") + ")"
}

var (
	oldTool     = regexp.MustCompile(`has unsupported feature\(s\): ([^\n"\\]+)|Get a newer version of e2fsck|more recent xfs_repair is recommended|Found unsupported filesystem features`)
	toolVersion = regexp.MustCompile(`\b(?:e2fsck|fsck\.ext4) (\d+\.\d+[.\d]*)`)
)

// toolTooOld reports a check that its own program refused.
func toolTooOld(p *diagnosis.Pass, v *snapshot.Volume, list []carrier) {
	for _, t := range p.Texts(v) {
		m := oldTool.FindStringSubmatch(t.Raw)
		if m == nil || !t.Fresh && slices.ContainsFunc(list, func(c carrier) bool { return len(c.uses) > 0 }) {
			continue // what was refused once is mounted since
		}
		feature := strings.TrimSpace(m[1])
		i := slices.IndexFunc(list, func(c carrier) bool { return t.Node == "" || c.view.Name == t.Node })
		if i < 0 && len(list) > 0 {
			i = 0
		}
		certainty := report.Likely
		if t.Fresh {
			certainty = report.Certain
		}
		subject, node := diagnosis.ObjectSubject("PersistentVolume", "", v.PVName()), t.Node
		if i >= 0 {
			c := list[i]
			subject, node = diagnosis.DeviceSubject(c.view.Name, c.block.Dev), c.view.Name
			// A log without times: what it says is true of the device today.
			has := strings.Fields(c.view.Facts.Contents[c.block.Dev].Extra["FEATURES"])
			if feature != "" && slices.Contains(has, strings.Fields(feature)[0]) {
				certainty = report.Certain
			}
		}
		f := p.Find(certainty, subject).On(v).Located(node).Fact(t.Evidence())
		if i >= 0 {
			list[i].about(f)
		}
		f.Sayf("The filesystem check of volume %s was refused by its own program%s: it is older than the filesystem and does not know the feature %s. That is no new damage; the check is still to be done, by a newer program.",
			volumeName(v), versionOf(p, t, node), orUnnamed(feature))
		if certainty != report.Certain {
			f.NotConfirmed = append(f.NotConfirmed, "when the check ran, or the features of the filesystem on the device")
		}
		f.Unless("a check by the same program that runs")
		f.Advise(remedy.Words("Let the check be made by a newer e2fsprogs or xfsprogs: the one in the driver's own image (Longhorn: inside the instance-manager or CSI plugin pod of node " + node + "), or a newer system. Never make a filesystem over it."))
		p.Report(f)
		return
	}
}

func orUnnamed(s string) string {
	if s == "" {
		return "(not named)"
	}
	return s
}

// versionOf finds the program's version beside its words.
func versionOf(p *diagnosis.Pass, t diagnosis.Text, node string) string {
	out := ""
	if m := toolVersion.FindStringSubmatch(t.Raw); m != nil {
		out = m[1]
	}
	for _, l := range p.Logs {
		if !slices.Contains(l.Lines, t.Raw) {
			continue
		}
		for _, line := range l.Lines {
			if m := toolVersion.FindStringSubmatch(line); m != nil && out == "" {
				out = m[1]
			}
		}
	}
	if view := p.View(node); view != nil && view.Facts.Identity.OSRelease["PRETTY_NAME"] != "" {
		return fmt.Sprintf(" (e2fsck %s on node %s, %s)", out, node, view.Facts.Identity.OSRelease["PRETTY_NAME"])
	}
	if out != "" {
		return " (e2fsck " + out + ")"
	}
	return ""
}
