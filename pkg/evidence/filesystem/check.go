package filesystem

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
)

// Check is what shows that the filesystem of a place wants a check by hand.
type Check struct {
	Says    string // mounted | free | signs | unseen; empty: nothing is to be asked here
	Carrier Carrier
	Seen    bool // of the carrier
	Is      evidence.Answer
	Sure    evidence.Answer
	Past    evidence.Answer // a mount succeeded since
	Failing evidence.Answer // it is the way to the data that fails
	Short   evidence.Answer // the device ends before the filesystem does: a repair would cut off the rest
	Sealed  evidence.Answer // the disk takes no writes: what was refused could not have been repaired
	Words   string          // of the tool, the kernel or an application, with who says them
	Earlier string          // the first sign of before
}

// CheckOf judges the filesystem of a place by the words of the tool that refused it, and by
// what its device and the kernel say on the node.
func CheckOf(pl *evidence.Place) Check {
	said := repairOf(pl)
	out := Check{Words: said.Quote, Past: evidence.No(), Failing: evidence.No(), Sealed: evidence.No(), Short: Short(pl)}
	if out.Carrier, out.Seen = CarrierOf(pl); out.Seen {
		out.seen(pl, said)
		return out
	}
	if said.Refused() && here(pl, said.text) && (said.text.Node != "" || !seenAnywhere(pl)) {
		out.Says, out.Is, out.Past = "unseen", said.Said, mountedAnywhere(pl)
		out.Sure = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "the device, its mounts and the kernel log"})
	}
	return out
}

// Short asks whether a tool or the kernel finds the filesystem of a place larger than its device
// (e2fsck, and ext4_check_geometry of fs/ext4/super.c).
func Short(pl *evidence.Place) evidence.Answer {
	for _, t := range pl.Felt() {
		if t.Is(message.DeviceShrunk) && (t.Node == "" || t.Node == pl.Node) {
			return evidence.Yes(t.Evidence())
		}
	}
	c, ok := CarrierOf(pl)
	if !ok || c.Block == nil {
		return evidence.No()
	}
	for _, u := range c.Uses { // statfs leaves out what the filesystem needs itself
		st, ok := pl.View.Statfs(u.Mount.Point)
		if ok && st.Err == "" && u.Mount.Dev == c.Block.Dev && c.Block.Sectors > 0 && st.Blocks*st.BlockSize > uint64(c.Block.Sectors)*512 {
			return evidence.Yes(evidence.FromNode(pl.Node, "sys/class/block/"+c.Block.Name+"/size", fmt.Sprintf("%d sectors of 512 bytes", c.Block.Sectors)),
				evidence.FromNode(pl.Node, "@statfs"+u.Mount.Point, fmt.Sprintf("%d blocks of %d bytes", st.Blocks, st.BlockSize)))
		}
	}
	beyond := len(c.Lines(kmsg.BeyondEnd)) > 0 && c.Block.Sectors > 0
	for _, l := range c.Lines(kmsg.BadSuperblock, kmsg.BtrfsError) { // XFS reads the last sector that it wants (xfs_check_sizes in fs/xfs/xfs_mount.c)
		if slices.Contains(message.Parse(l.Text).Kinds, message.DeviceShrunk) || beyond && strings.Contains(l.Text, "last sector read failed") {
			return evidence.Yes(evidence.FromKernel(pl.Node, l))
		}
	}
	return evidence.No()
}

func (k *Check) seen(pl *evidence.Place, said Repair) {
	c := k.Carrier
	k.Failing = c.failing(said.text.At)
	if len(c.Uses) == 0 {
		k.Sealed = evidence.When(c.Block.ReadOnly, evidence.FromNode(pl.Node, "sys/class/block/"+c.Block.Name+"/ro", "1"))
	}
	first, signs := c.signsOfDamage(said.text.Evidence().Text)
	switch app := said.unclean(); {
	case len(c.Uses) > 0:
		k.Says, k.Is, k.Sure = "mounted", evidence.Any(c.damaged(), app), c.sure()
		if k.Is.Yes() {
			k.Is = k.Is.With(app.Facts()...).With(c.MountLine(c.Uses[0]))
		}
		if lines := c.damageLines(); len(lines) > 0 {
			k.Words = fmt.Sprintf("Kernel: %q.", strings.TrimSpace(lines[0].Text))
		} else {
			k.Words = fmt.Sprintf("An application: %q.", said.text.Raw)
		}
	case said.Refused() && !said.ofOther(c.FSType()):
		k.Says, k.Is, k.Sure = "free", said.Said.With(signs.Facts()...), c.readable()
		k.Past, k.Earlier = mountedAnywhere(pl), first
	case signs.Yes():
		k.Says, k.Is, k.Past, k.Earlier = "signs", signs, mountedAnywhere(pl), first
		k.Sure = evidence.All(c.readable(), c.unread(probes.Contents, "the words of a check that refused this filesystem"))
	}
}

// sure asks whether the kernel's words leave no doubt: XFS asks for xfs_repair, and ext4
// does not grow what has errors; else ext4 and btrfs may go on.
func (c Carrier) sure() evidence.Answer {
	for _, l := range c.damageLines() {
		if strings.HasPrefix(l.Kind, "xfs") || strings.Contains(l.Text, noGrowth) {
			return evidence.Yes()
		}
	}
	return c.unread(probes.Contents, "a check of the filesystem while nothing mounts it")
}

func (c Carrier) unread(table probes.Table, why string) evidence.Answer {
	return evidence.Unseen(evidence.Lack{Need: "node/" + c.Place.Node + "/" + string(table), Node: c.Place.Node, Why: why})
}
