package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed filesystem_needs_fsck.md
var needsFsckDoc string

// NeedsFsck finds filesystems with damage that automatic repair refuses.
var NeedsFsck = &diagnosis.Rule{
	Name: "filesystem-needs-fsck", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("mountns"), diagnosis.Probe("blockdev"), diagnosis.Probe("kmsg")},
	Explains: []string{"fsck-failed", "mount-failed", "pod-waiting-for-volume", "share-manager-failing", "expansion-pending", "volume-io-error"},
	YieldsTo: []string{"device-renumbered", "device-is-not-the-volume", "device-lun-reused", "xfs-log-not-replayed"},
	Offers:   []string{"fsck"},
	Doc:      needsFsckDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !v.Block() {
				needsFsck(p, v)
			}
		}
	},
}

// needsFsck judges a volume by the words of the tool that refused it, and by what
// its device and the kernel say on the nodes that were probed.
func needsFsck(p *diagnosis.Pass, v *snapshot.Volume) {
	said := refusal(p, v)
	list := carriers(p, v)
	mounted := false
	for _, c := range list {
		mounted = mounted || len(c.uses) > 0
	}
	judged := mounted // the refusal is past where the mount succeeded since
	for _, c := range list {
		if len(c.uses) > 0 {
			damagedWhileMounted(p, c, unclean(said))
			continue
		}
		if said != nil && said.Node != "" && said.Node != c.view.Name {
			continue
		}
		judged = true
		if !mounted {
			damagedAndFree(p, c, said)
		}
	}
	if said != nil && !judged {
		refusedUnseen(p, v, said)
	}
}

// manually is what e2fsck(8), xfs_repair(8) and mount-utils say when a person must
// decide; EUCLEAN (117) is "Structure needs cleaning".
var manually = regexp.MustCompile(`(?i)found errors on device \S+ but could not correct them|RUN fsck MANUALLY|structure needs cleaning|please run '?e2fsck -f`)

// refusal is the newest fresh text that asks for a repair by hand, or nil. A tool
// that does not know the filesystem's features found no damage.
func refusal(p *diagnosis.Pass, v *snapshot.Volume) *diagnosis.Text {
	for _, t := range p.Texts(v) {
		if t.Fresh && manually.MatchString(t.Raw) && !t.Is(message.FsckUnsupported) {
			return &t
		}
	}
	return nil
}

// unclean keeps a text of something that works on the mounted filesystem and gets
// EUCLEAN; an event of the kubelet is about a mount that failed.
func unclean(t *diagnosis.Text) *diagnosis.Text {
	if t != nil && t.Source == "log" && strings.Contains(strings.ToLower(t.Raw), "structure needs cleaning") {
		return t
	}
	return nil
}

// damagedAndFree judges a device that is mounted nowhere.
func damagedAndFree(p *diagnosis.Pass, c carrier, said *diagnosis.Text) {
	if len(c.failedRequests()) > 0 || gone(c.block) {
		return // cure the path first; then see
	}
	content, read := c.view.Facts.Contents[c.block.Dev]
	if read && content.Err != "" {
		return
	}
	if !hasFilesystem(content, read) {
		return
	}
	hints := c.hints(p, content)
	found := c.metNow(p)
	failed := len(hints) > 0 || p.Suffers(c.volume, "mount-failed", "fsck-failed")
	if said == nil && (content.State != "errors" && len(found) == 0 || !failed) {
		return // a mark in the superblock alone is what the next automatic check clears
	}
	certainty := report.Certain
	if said == nil {
		certainty = report.Likely
	}
	f := p.Find(certainty, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
	c.about(f)
	what := "has errors that the automatic check does not repair alone"
	if said == nil {
		what = "is damaged, by all signs, and wants a check by hand"
	}
	f.Sayf("The filesystem of volume %s on device %s of node %s %s.%s The device is readable and mounted in no mount namespace that was read.%s%s",
		volumeName(c.volume), c.name(), c.view.Name, what, quoted(said), stateWords(content), earlier(hints))
	if said != nil {
		f.Fact(said.Evidence())
	}
	if content.State != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+c.block.Dev.String(), "TYPE="+content.Type+" STATE="+content.State))
	}
	if claim := c.view.Facts.Claims[c.block.Dev]; claim != "" {
		f.Fact(diagnosis.FromNode(c.view.Name, "@claim/"+c.block.Dev.String(), claim))
	}
	f.Fact(found...)
	f.Fact(hints...)
	switch {
	case said == nil:
		f.Missing("the words of a check that refused this filesystem")
	case !read:
		f.Missing("the content of " + c.block.Name)
	case !c.view.AllNamespacesRead():
		f.Missing("some mount namespaces of node " + c.view.Name)
	}
	f.Unless("a check that ends with exit status 0 or 1, or I/O errors of the device")
	c.adviseRepair(f, p)
	p.Report(f)
}

// hasFilesystem refuses devices whose content is no filesystem: a multipath member,
// LUKS, nothing.
func hasFilesystem(x probes.Content, read bool) bool {
	if !read {
		return true
	}
	switch x.Type {
	case "ext2", "ext3", "ext4", "xfs", "btrfs", "":
		return true
	}
	return false
}

func gone(b *probes.BlockDevice) bool {
	return b.State == "offline" || b.State == "transport-offline" || b.Sectors == 0
}

// hints are signs of damage besides the superblock's mark: what the kernel said of
// the device under its present or a former name on this node, and checks that failed
// for other reasons.
func (c carrier) hints(p *diagnosis.Pass, content probes.Content) []report.Evidence {
	var out []report.Evidence
	for _, l := range c.formerDamage() {
		if len(out) < 3 {
			out = append(out, evidence.FromKernel(c.view.Name, l))
		}
	}
	for _, t := range p.Texts(c.volume) {
		if (t.Is(message.FsckUnsupported) || t.Is(message.FsckUncorrected)) && len(out) < 5 {
			out = append(out, t.Evidence())
		}
	}
	return out
}

func quoted(t *diagnosis.Text) string {
	if t == nil {
		return ""
	}
	text := t.Raw
	if m := manually.FindStringIndex(text); m != nil {
		text = text[m[0]:]
	}
	if i := strings.IndexByte(text, '\n'); i > 0 {
		text = text[:i]
	}
	if len(text) > 200 {
		text = text[:200] + " …"
	}
	out := fmt.Sprintf(" %s says: %q.", said(t), text)
	if strings.Contains(t.Raw, "UNEXPECTED INCONSISTENCY") && !strings.Contains(text, "UNEXPECTED") {
		out += " It ends with UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY."
	}
	return out
}

func said(t *diagnosis.Text) string {
	if t.Component != "" {
		return t.Component
	}
	return "The tool"
}

func stateWords(x probes.Content) string {
	if x.State == "errors" {
		return " Its superblock is marked with errors."
	}
	return ""
}

func earlier(hints []report.Evidence) string {
	if len(hints) == 0 {
		return ""
	}
	return " Earlier the kernel or a tool said: " + fmt.Sprintf("%q.", hints[0].Text)
}
