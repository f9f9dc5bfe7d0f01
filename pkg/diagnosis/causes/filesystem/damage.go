package filesystem

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// damageLines are the kernel's words about bad metadata of the filesystem that is
// mounted now, when no request of the device failed: then the data itself is bad,
// not the way to it.
func (c carrier) damageLines() []probes.KernelLine {
	if len(c.failedRequests()) > 0 {
		return nil
	}
	var out []probes.KernelLine
	for _, l := range c.lines(kmsg.XFSCorruption, kmsg.XFSShutdown, kmsg.Ext4Error, kmsg.BtrfsError, kmsg.BadSuperblock) {
		if speaksOfDamage(l) {
			out = append(out, l)
		}
	}
	return append(out, c.growthRefused()...)
}

// metNow is the damage that the kernel met just now, when it was to mount the filesystem.
func (c carrier) metNow(p *diagnosis.Pass) []report.Evidence {
	var out []report.Evidence
	for _, l := range c.damageLines() {
		if p.Age(l.At) < freshLine && len(out) < 3 {
			out = append(out, evidence.FromKernel(c.view.Name, l))
		}
	}
	return out
}

// growthRefused are the lines of ext4 that does not grow a filesystem with known errors
// (ext4_resize_begin, fs/ext4/resize.c).
func (c carrier) growthRefused() []probes.KernelLine {
	var out []probes.KernelLine
	for _, l := range c.view.Facts.Kernel {
		if l.Micros >= c.since() && strings.Contains(l.Text, "EXT4-fs") && strings.Contains(l.Text, "(device "+c.block.Name+")") && strings.Contains(l.Text, "so online resizing is not allowed") {
			out = append(out, l)
		}
	}
	return out
}

// speaksOfDamage leaves out aborts and shutdowns that name no damage.
func speaksOfDamage(l probes.KernelLine) bool {
	switch l.Kind {
	case kmsg.XFSCorruption:
		return true
	case kmsg.BadSuperblock: // ext4_check_descriptors and its caller, fs/ext4/super.c
		return strings.Contains(l.Text, "EXT4-fs (") && (strings.Contains(l.Text, "check_descriptors") || strings.Contains(l.Text, "corrupted"))
	case kmsg.XFSShutdown:
		return strings.Contains(l.Text, "orruption")
	case kmsg.Ext4Error:
		return strings.Contains(l.Text, "EXT4-fs error") && !strings.Contains(l.Text, "ournal has aborted") && !strings.Contains(l.Text, "journal_check_start")
	case kmsg.BtrfsError:
		for _, w := range []string{"corrupt", "csum", "parent transid", "bad tree block"} {
			if strings.Contains(l.Text, w) {
				return true
			}
		}
	}
	return false
}

// shutByDamage tells whether the filesystem stopped because it found itself damaged.
func (c carrier) shutByDamage() bool {
	for _, l := range c.damageLines() {
		if strings.HasPrefix(l.Kind, "xfs") {
			return true
		}
	}
	return false
}
