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

// Pool is a thin pool without free blocks. What a filesystem above it writes anew waits for a minute
// (no_space_timeout) and fails then, whatever room the filesystem itself counts
// (Documentation/admin-guide/device-mapper/thin-provisioning.rst).
type Pool struct {
	Block *probes.BlockDevice
	Line  probes.KernelLine // the kernel's last word on its mode
}

// Waits tells whether writes wait in it; else they fail.
func (p Pool) Waits() bool { return strings.Contains(p.Line.Text, "(queue IO)") }

// Shows quotes the kernel.
func (p Pool) Shows(node string) report.Evidence {
	return evidence.FromNode(node, "@kmsg", p.Line.Text)
}

// PoolBelow finds one that a device lies in.
func PoolBelow(view *snapshot.NodeView, dev probes.Dev) (Pool, bool) {
	lines := view.KernelLines(kmsg.ThinPoolMode)
	for _, b := range view.Blocks() {
		own := evidence.Keep(lines, func(l probes.KernelLine) bool { return slices.Contains(l.Names, b.Dev.String()) })
		if len(own) > 0 && strings.Contains(own[len(own)-1].Text, "out-of-data-space") && view.Rests(dev, b.Dev) {
			return Pool{b, own[len(own)-1]}, true
		}
	}
	return Pool{}, false
}

// PoolOf finds one below the device of the place's volume.
func PoolOf(pl *evidence.Place) (Pool, bool) {
	c, ok := CarrierOf(pl)
	if !ok {
		return Pool{}, false
	}
	return PoolBelow(pl.View, c.Block.Dev)
}
