package filesystem

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Pool is a thin pool that takes no new blocks: it has none, or its metadata are closed. What a filesystem above it writes anew waits for a minute
// (no_space_timeout) and fails then, whatever room the filesystem itself counts
// (Documentation/admin-guide/device-mapper/thin-provisioning.rst).
type Pool struct {
	Block *probes.BlockDevice
	Line  probes.KernelLine  // the kernel's last word on its mode
	Lack  *probes.KernelLine // the line that says that its metadata have no room
	Past  bool               // the filesystem was mounted after that: perhaps in a pool that was repaired and made anew, of which the kernel says nothing
}

// Spent tells whether it is known to lack room, of data or of metadata.
func (p Pool) Spent() bool {
	return p.Lack != nil || strings.Contains(p.Line.Text, "out-of-data-space")
}

// Waits tells whether writes wait in it; else they fail.
func (p Pool) Waits() bool { return strings.Contains(p.Line.Text, "(queue IO)") }

// Says is the sentence about what it lacks.
func (p Pool) Says() string {
	if p.Lack != nil {
		return "poolMetadata"
	}
	return "pool"
}

// Shows quotes the kernel.
func (p Pool) Shows(node string) report.Evidence {
	if p.Lack != nil {
		return evidence.FromNode(node, "@kmsg", p.Lack.Text+"; "+p.Line.Text)
	}
	return evidence.FromNode(node, "@kmsg", p.Line.Text)
}

// noMetadata is the last line in which the kernel says that a pool's metadata have no room: metadata_operation_failed with
// ENOSPC, and alloc_data_block. The pool takes no writes then, as it does when its metadata are damaged (drivers/md/dm-thin.c).
func noMetadata(view *snapshot.NodeView, pool probes.Dev) *probes.KernelLine {
	return evidence.Last(view.Facts.Kernel, func(l probes.KernelLine) bool {
		_, said, ok := strings.Cut(l.Text, "thin: "+pool.String()+": ")
		return ok && (strings.Contains(said, "no free metadata space") || strings.Contains(said, "metadata operation") && strings.HasSuffix(strings.TrimSpace(said), "error = -28"))
	})
}

// PoolBelow finds one that a device lies in.
func PoolBelow(view *snapshot.NodeView, dev probes.Dev) (Pool, bool) {
	lines := view.KernelLines(kmsg.ThinPoolMode)
	for _, b := range view.Blocks() {
		own := evidence.Keep(lines, func(l probes.KernelLine) bool { return slices.Contains(l.Names, b.Dev.String()) })
		if len(own) == 0 || !view.Rests(dev, b.Dev) {
			continue
		}
		switch last := own[len(own)-1]; {
		case strings.Contains(last.Text, "to out-of-data-space"):
			return Pool{Block: b, Line: last}, true
		case evidence.ContainsAny(last.Text, "to read-only mode", "to fail"):
			return Pool{b, last, noMetadata(view, b.Dev), mountedSince(view, dev, last)}, true
		}
	}
	return Pool{}, false
}

// mountedSince tells whether the filesystem on a device was mounted after a line. A pool whose metadata are repaired is taken
// down with all that lies in it, and is one that takes writes from its beginning: no line says so (pool_features_init and
// set_pool_mode in drivers/md/dm-thin.c).
func mountedSince(view *snapshot.NodeView, dev probes.Dev, line probes.KernelLine) bool {
	b := view.Device(dev)
	return b != nil && slices.ContainsFunc(view.KernelLines(kmsg.Mounted), func(l probes.KernelLine) bool {
		return l.Micros > line.Micros && slices.Contains(l.Names, b.Name)
	})
}

// PoolOf finds one below the device of the place's volume. Where the filesystem was mounted since, what the kernel meets in
// it tells whether the pool is still closed.
func PoolOf(pl *evidence.Place) (Pool, bool) {
	c, ok := CarrierOf(pl)
	if !ok {
		return Pool{}, false
	}
	pool, closed := PoolBelow(pl.View, c.Block.Dev)
	if pool.Past && len(c.Lines(kmsg.IOError, kmsg.Ext4Error, kmsg.Ext4Aborted, kmsg.RemountedReadOnly, kmsg.XFSShutdown)) == 0 {
		return pool, false
	}
	return pool, closed
}
