// Package xfs answers questions about journals that wait for their replay.
package xfs

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const fresh = 10 * time.Minute

// valuable is xfs_repair(8) that will not touch a log which was not replayed.
const valuable = "valuable metadata changes in a log which needs to"

// readOnly is the kernel that may not replay a log: XFS, and ext4 for its journal. A
// failed recovery with EROFS (30) is the same.
var readOnly = pattern.MustCompile(`recovery required on read-?only (device|filesystem)|write access unavailable, cannot proceed|log mount/recovery failed: error -?30\b`)

// worse is what the kernel says when the replay itself fails, or the disk.
var worse = pattern.MustCompile(`log mount/recovery failed: error`)

// Waiting is a journal that waits for its replay.
type Waiting struct {
	Says string // checker | readonly
	Is   evidence.Answer
	Dev  probes.Dev // zero: the node was not read
	Name string

	protected *report.Evidence // the disk takes no writes at all
}

// Protected tells whether the disk itself takes no writes.
func (w Waiting) Protected() bool { return w.protected != nil }

// WaitingOf finds the journal of the place's volume that waits, by the checker's sentence
// or the kernel's line.
func WaitingOf(pl *evidence.Place) Waiting {
	w := Waiting{Is: evidence.No()}
	if len(pl.X.VolumeMounts(pl.Volume, pl.Node)) > 0 {
		return w // it was mounted since
	}
	d, ok := pl.X.DeviceOn(pl.Volume, pl.Node)
	if ok && d.Block != nil {
		w.Dev, w.Name = d.Block.Dev, d.Block.Name
		if top := pl.View.Device(d.Top()); top != nil && d.Mapper != nil {
			w.Dev, w.Name = top.Dev, top.Name
		}
	}
	if b := pl.View.Device(w.Dev); b != nil && b.ReadOnly {
		ro := evidence.FromNode(pl.Node, "sys/class/block/"+b.Name+"/ro", "1")
		w.protected = &ro
	}
	if t, found := said(pl); found && !w.other(pl) {
		w.Says, w.Is = "checker", evidence.Yes(t.Evidence())
	}
	if w.Name == "" || w.Is.Yes() {
		return w
	}
	var lines []report.Evidence
	for _, l := range since(pl, w.Name) {
		if readOnly.MatchString(l.Text) && pl.X.Age(l.At) < fresh {
			lines = append(lines, line(pl, l))
		}
		if strings.Contains(l.Text, "Ending recovery") || strings.Contains(l.Text, "recovery complete") {
			lines = nil // it was replayed since
		}
	}
	if len(lines) == 0 && w.Protected() {
		lines = w.refused(pl)
	}
	if len(lines) > 0 {
		w.Says, w.Is = "readonly", evidence.Yes(lines...)
	}
	if w.Protected() {
		w.Is = w.Is.With(*w.protected)
	}
	return w
}

// refused quotes who cannot mount a disk that takes no writes: mount(8), for which a read-only mount
// fails with EROFS as well (so it is with a journal that waits), or any tool while the journal does.
// A superblock that was left clean has nothing to replay.
func (w Waiting) refused(pl *evidence.Place) []report.Evidence {
	state := pl.View.Facts.Contents[w.Dev].State
	waits := state == "needs_recovery"
	if state == "clean" {
		return nil
	}
	return pl.Refused().Say(func(t evidence.Text) bool {
		low := strings.ToLower(t.Raw)
		closed := strings.Contains(low, "read-only") || strings.Contains(low, "write-protected")
		return t.Reason == "FailedMount" && !t.Ordinary && t.Node == pl.Node && closed && (waits || strings.Contains(low, ": cannot mount "))
	}).Facts()
}

// other tells whether another filesystem was read on the device: no xfs_repair spoke of that.
func (w Waiting) other(pl *evidence.Place) bool {
	if pl.View == nil {
		return false
	}
	holds := pl.View.Facts.Contents[w.Dev].Type
	return holds != "xfs" && slices.Contains(disk.Filesystems, holds)
}

func line(pl *evidence.Place, l probes.KernelLine) report.Evidence {
	return evidence.FromNode(pl.Node, "@kmsg", l.Text)
}

func said(pl *evidence.Place) (evidence.Text, bool) {
	return pl.Refused().First(func(t evidence.Text) bool {
		return !t.Ordinary && strings.Contains(strings.Join(strings.Fields(t.Raw), " "), valuable)
	})
}

// since are the lines of the log about a device since it was attached.
func since(pl *evidence.Place, name string) []probes.KernelLine {
	begin := attached(pl.Volume, pl.Node)
	return evidence.Keep(pl.View.Facts.Kernel, func(l probes.KernelLine) bool {
		return !l.At.IsZero() && !l.At.Before(begin) && strings.Contains(l.Text, "("+name+")") || l.Kind == kmsg.IOError && strings.Contains(l.Text, "dev "+name+",")
	})
}

func attached(v *snapshot.Volume, node string) time.Time {
	if va := v.AttachmentOn(node); va != nil {
		return va.CreationTimestamp.Time
	}
	return time.Time{}
}

// Damaged asks whether the kernel speaks of damage, of failed requests or of a replay that
// failed on this device.
func (w Waiting) Damaged(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	if w.Name == "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Block), Node: pl.Node, Why: "the volume's device was not found"})
	}
	for _, l := range since(pl, w.Name) {
		bad := l.Kind == kmsg.XFSCorruption || l.Kind == kmsg.IOError || l.Kind == kmsg.XFSShutdown || l.Kind == kmsg.Ext4Error
		if bad || worse.MatchString(l.Text) && !readOnly.MatchString(l.Text) {
			return evidence.Yes(line(pl, l))
		}
	}
	if c, ok := pl.View.Facts.Contents[w.Dev]; ok && (c.Err != "" || c.State == "errors" && !w.Protected()) {
		return evidence.Yes(evidence.FromNode(pl.Node, "@content/"+w.Dev.String(), c.Err+c.State))
	}
	return pl.Tables(probes.KernelLog).Found()
}
