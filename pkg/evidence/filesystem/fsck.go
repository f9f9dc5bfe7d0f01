package filesystem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// manually is what e2fsck(8), xfs_repair(8) and mount-utils say when a person must decide;
// EUCLEAN (117) is "Structure needs cleaning".
var manually = pattern.MustCompile(`(?i)found errors on device \S+ but could not correct them|RUN fsck MANUALLY|structure needs cleaning|please run '?e2fsck -f`)

// Repair is a text that asks for a repair by hand.
type Repair struct {
	Quote string // its sentence, and who says it
	Said  evidence.Answer
	text  evidence.Text
}

// repairOf is the newest fresh one about the place's volume. A tool that does not know the
// filesystem's features found no damage.
func repairOf(pl *evidence.Place) Repair {
	for _, t := range pl.Felt() {
		low := strings.ToLower(t.Raw)
		if !strings.Contains(low, "fsck") && !strings.Contains(low, "cleaning") && !strings.Contains(low, "found errors") || t.Is(message.FsckUnsupported) || t.Node != "" && t.Node != pl.Node {
			continue
		}
		if t.Is(message.FsckMounted) && !strings.Contains(low, "inconsistency") { // "is in use. Cannot continue": it did not look
			continue
		}
		at := manually.FindStringIndex(t.Raw)
		if at == nil {
			continue
		}
		who := t.Component
		who = cmp.Or(who, "The tool")
		return Repair{text: t, Said: evidence.Yes(t.Evidence()), Quote: sentence(who, t.Raw, at[0])}
	}
	return Repair{Said: evidence.No()}
}

func sentence(who, raw string, at int) string {
	text, _, _ := strings.Cut(strings.ReplaceAll(raw[at:], `\n`, "\n"), "\n") // a structured log escapes it
	if len(text) > 200 {
		text = text[:200] + " …"
	}
	out := fmt.Sprintf("%s says: %q.", who, text)
	if strings.Contains(raw, "UNEXPECTED INCONSISTENCY") && !strings.Contains(text, "UNEXPECTED") {
		out += " It ends with UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY."
	}
	return out
}

// unclean asks whether something that works on the mounted filesystem gets EUCLEAN: a
// container, or what shall grow it. Other events of the kubelet are about a mount that failed.
func (r Repair) unclean() evidence.Answer {
	if (r.text.Source == "log" || strings.Contains(r.text.Reason, "Resize")) && strings.Contains(strings.ToLower(r.text.Raw), "structure needs cleaning") {
		return r.Said
	}
	return evidence.No()
}

// ofOther tells whether the words are those of a check that is never run on a filesystem like the one
// that is there: XFS has xfs_repair, and fsck does nothing to it (fsck.xfs(8)).
func (r Repair) ofOther(fstype string) bool {
	low := strings.ToLower(r.text.Raw)
	return fstype == "xfs" && strings.Contains(low, "fsck") && !strings.Contains(low, "xfs") || strings.HasPrefix(fstype, "ext") && strings.Contains(low, "xfs_repair")
}

// Refused tells whether a tool says it that was to make the filesystem ready. What a container of the
// volume's pod prints is about files that it had mounted, or it is anything.
func (r Repair) Refused() bool { return r.Said.Yes() && !r.text.OwnWord }

// failing asks whether the device is away, or requests of it failed before the filesystem was
// refused: then the way to the data is to be cured first.
func (c Carrier) failing(refused time.Time) evidence.Answer {
	if c.gone() {
		return evidence.Yes(evidence.FromNode(c.Place.Node, "sys/class/block/"+c.Block.Name+"/device/state", c.Block.State))
	}
	if lines := c.damageLines(); len(lines) > 0 {
		refused = lines[0].At
	}
	return c.Place.LogFrom(refused).Found(c.quote(c.failedRequests(), 3)...)
}

// readable asks whether a read of the device shows a filesystem: no error, and no content
// that is none (a multipath member, LUKS, nothing).
func (c Carrier) readable() evidence.Answer {
	x, read := c.Content()
	if !read {
		return c.unread(probes.Contents, "the content of "+c.Block.Name)
	}
	var state, claim report.Evidence
	if x.State != "" {
		state = c.Shows("TYPE="+x.Type, "STATE="+x.State)
	}
	if free := c.Place.View.Facts.Claims[c.Block.Dev]; free != "" {
		claim = evidence.FromNode(c.Place.Node, "@claim/"+c.Block.Dev.String(), free)
	}
	return evidence.When(x.Err == "" && (x.Type == "" || slices.Contains(disk.Filesystems, x.Type)), state, claim)
}

// Marked tells whether the superblock is marked with errors. That alone is what the next
// automatic check clears.
func (c Carrier) Marked() bool {
	x, _ := c.Content()
	return x.State == "errors"
}

// Unmarked asks whether no filesystem that nobody mounts on the place's node is marked with errors in its superblock: then
// whoever could not mount it may be right.
func Unmarked(pl *evidence.Place) evidence.Answer {
	c, ok := CarrierOf(pl)
	if !ok || len(c.Uses) > 0 {
		return evidence.Yes()
	}
	if _, read := c.Content(); !read {
		return c.unread(probes.Contents, "whether its superblock is marked with errors")
	}
	if !c.Marked() {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "that its filesystem can be mounted", Node: pl.Node, Why: "the superblock on " + c.Name() + " is marked with errors, and nobody mounts it: a check by hand, read-only first, comes before a new pod"})
}

// signsOfDamage asks whether something besides a mark in the superblock shows that the
// filesystem is damaged and fails for it: what the kernel met when it was to mount it, or,
// with the mark, signs of before. first is the first sign of before, other than what is said now.
func (c Carrier) signsOfDamage(said string) (first string, a evidence.Answer) {
	now := c.quote(evidence.Keep(c.damageLines(), func(l probes.KernelLine) bool { return c.Place.X.Age(l.At) < Fresh }), 3)
	hints := c.hints()
	if i := slices.IndexFunc(hints, func(h report.Evidence) bool { return h.Text != said }); i >= 0 {
		first = fmt.Sprintf("%q", hints[i].Text)
	}
	fails := len(hints) > 0 || MountFails(c.Place)
	return first, evidence.When(fails && (c.Marked() || len(now) > 0), append(now, hints...)...)
}

// Hints are signs of damage besides the superblock's mark: what the kernel said of the
// device under its present or a former name on this node, and checks that failed for other
// reasons.
func (c Carrier) hints() []report.Evidence {
	out := c.quote(c.formerDamage(), 3)
	for _, t := range c.Place.Texts {
		if (t.Is(message.FsckUnsupported) || t.Is(message.FsckUncorrected)) && len(out) < 5 {
			out = append(out, t.Evidence())
		}
	}
	return out
}

// formerDamage are damage lines about the volume's disk under a name that it had before on
// this node: a name that has no device now, or the present one. Where requests of that name
// failed, the lines tell of an outage and not of damage.
func (c Carrier) formerDamage() []probes.KernelLine {
	view, failed := c.Place.View, map[string]bool{}
	for _, l := range view.KernelLines(kmsg.IOError, kmsg.OfflineDevice, kmsg.MediumError, kmsg.BeyondEnd) {
		for _, n := range l.Names {
			failed[n] = true
		}
	}
	var out []probes.KernelLine
	for _, l := range view.KernelLines(kmsg.Ext4Error, kmsg.XFSCorruption) {
		former := func(n string) bool {
			return !failed[n] && (n == c.Block.Name || view.ByName(n) == nil && strings.HasPrefix(n, "sd"))
		}
		if speaksOfDamage(l) && slices.ContainsFunc(l.Names, former) {
			out = append(out, l)
		}
	}
	return out
}

// MountFails tells whether a mount or a check of the place's volume fails now, in whatever
// words.
func MountFails(pl *evidence.Place) bool {
	return slices.ContainsFunc(pl.Felt(), func(t evidence.Text) bool {
		return strings.HasPrefix(t.Op, "MountVolume") || t.Is(message.WrongFSType) || t.Is(message.CantReadSuperblock) || t.Is(message.FsckUncorrected) || t.Is(message.FsckUnsupported) || t.Is(message.FsckMounted)
	})
}

// mountedAnywhere asks whether a node has the volume's filesystem mounted: what refused it
// once is past then.
func mountedAnywhere(pl *evidence.Place) evidence.Answer {
	whole := pl.Mounts()
	for _, n := range pl.X.NodesTraced(pl.Volume) {
		if pl.Volume.RegularRWX() && pl.X.View(n) == nil && !slices.Contains(pl.X.DeviceNodes(pl.Volume), n) {
			continue // a client of the share has no disk of it
		}
		whole = whole.And(evidence.TablesFor(pl.X, pl.Volume, n, probes.Mounts))
		if c, ok := CarrierOf(pl.On(n)); ok && len(c.Uses) > 0 {
			return evidence.Yes(c.MountLine(c.Uses[0]))
		}
	}
	return whole.Found()
}

// seenAnywhere tells whether a node showed the volume's device.
func seenAnywhere(pl *evidence.Place) bool {
	return slices.ContainsFunc(pl.X.NodesTraced(pl.Volume), func(n string) bool {
		_, ok := CarrierOf(pl.On(n))
		return ok
	})
}

// Unsupported tells whether a tool said that it does not know the filesystem's features.
func Unsupported(pl *evidence.Place) bool {
	return slices.ContainsFunc(pl.Texts, func(t evidence.Text) bool { return t.Is(message.FsckUnsupported) })
}
