package filesystem

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// noGrowth is ext4 that does not grow a filesystem with known errors (ext4_resize_begin,
// fs/ext4/resize.c).
const noGrowth = "so online resizing is not allowed"

// corrupt are EFSCORRUPTED and EFSBADCRC, as XFS numbers what it finds.
var corrupt = pattern.MustCompile(`error -?(?:117|74)\b`)

// damageLines are the kernel's words about bad metadata of the filesystem that is mounted
// now, when no request of the device failed: then the data itself is bad, not the way to it.
func (c Carrier) damageLines() []probes.KernelLine {
	if len(c.failedRequests()) > 0 {
		return nil
	}
	since := c.since()
	return slices.Concat(
		evidence.Keep(c.Lines(kmsg.XFSCorruption, kmsg.XFSShutdown, kmsg.Ext4Error, kmsg.BtrfsError, kmsg.BadSuperblock, kmsg.BadJournal), speaksOfDamage),
		evidence.Keep(c.Place.View.Facts.Kernel, func(l probes.KernelLine) bool {
			return l.Micros >= since && strings.Contains(l.Text, noGrowth) && strings.Contains(l.Text, "EXT4-fs") && strings.Contains(l.Text, "(device "+c.Block.Name+")")
		}))
}

// speaksOfDamage leaves out aborts and shutdowns that name no damage.
func speaksOfDamage(l probes.KernelLine) bool {
	has := func(words ...string) bool { return evidence.ContainsAny(l.Text, words...) }
	switch l.Kind {
	case kmsg.XFSCorruption, kmsg.BadJournal:
		return true
	case kmsg.BadSuperblock: // of ext4, once it has found its magic number (fs/ext4/super.c); the size is the device's
		return has("EXT4-fs (") && !has("Can't find ext", "unable to read superblock", "bad geometry") || has("SB validate failed") && corrupt.MatchString(l.Text)
	case kmsg.XFSShutdown:
		return has("orruption")
	case kmsg.Ext4Error:
		return has("EXT4-fs error") && !has("ournal has aborted", "journal_check_start")
	case kmsg.BtrfsError:
		return has("corrupt", "csum", "parent transid", "bad tree block")
	}
	return false
}

// quote makes evidence of some lines.
func (c Carrier) quote(lines []probes.KernelLine, limit int) []report.Evidence {
	return evidence.Each(lines[:min(limit, len(lines))], func(l probes.KernelLine) report.Evidence { return evidence.FromKernel(c.Place.Node, l) })
}

// damaged asks whether the kernel finds damage in the filesystem that it has mounted.
func (c Carrier) damaged() evidence.Answer {
	return c.Place.Tables(probes.KernelLog).Found(c.quote(c.damageLines(), 3)...)
}

// shutByDamage asks whether an XFS stopped because it found itself damaged.
func (c Carrier) shutByDamage() evidence.Answer {
	for _, l := range c.damageLines() {
		if strings.HasPrefix(l.Kind, "xfs") {
			return evidence.Yes(evidence.FromKernel(c.Place.Node, l))
		}
	}
	var first time.Time
	if all := c.Lines(kmsg.XFSShutdown); len(all) > 0 {
		first = all[0].At
	}
	return c.Place.LogFrom(first).Found()
}
