package filesystem

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// patience is how long a tool may wait for its disk without being taken for hung: a check
// of terabytes takes hours, and is seen waiting most of the time.
const patience = 3 * time.Hour

// makers make, check or grow a filesystem, which takes as long as the disk is large; the kubelet
// does not wait for them, and its next tries find the driver at work.
var makers = []string{"mkfs", "mke2fs", "fsck", "e2fsck", "xfs_repair", "resize2fs", "xfs_growfs"}

// AtWork asks whether such a tool works on a volume's device on a node, and gives its words. One of which the kernel
// says that it hangs does not.
func AtWork(x *snapshot.Index, v *snapshot.Volume, node string) (words string, a evidence.Answer) {
	view := x.View(node)
	d, ok := x.DeviceOn(v, node)
	if view == nil || !ok {
		return "", evidence.No()
	}
	for _, p := range view.Processes() {
		tool := makes(p)
		if tool && len(p.Cmdline) == 0 && len(p.Open) == 0 && !p.Started.IsZero() && x.Age(p.Started) <= patience {
			return "", evidence.Unseen(evidence.Lack{Need: fmt.Sprintf("on what %s (process %d) works", p.Comm, p.PID), Node: node, Why: "it was not read"})
		}
		if !tool || p.State == "Z" || p.State == "T" || p.Started.IsZero() || x.Age(p.Started) > patience || !worksOn(view, d, p) {
			continue
		}
		hung := fmt.Sprintf("task %s:%d blocked ", p.Comm, p.PID) // for more than, or in I/O wait for more than: kernel/hung_task.c
		if slices.ContainsFunc(view.Facts.Kernel, func(l probes.KernelLine) bool { return strings.Contains(l.Text, hung) }) {
			return "", evidence.No()
		}
		return fmt.Sprintf("%s has worked on its disk on node %s for %s", p.Comm, node, evidence.Duration(x.Age(p.Started))),
			evidence.Yes(evidence.FromNode(node, fmt.Sprintf("proc/%d/comm", p.PID), p.Comm))
	}
	return "", evidence.TablesFor(x, v, node, probes.Processes, probes.Descriptors).Found()
}

func makes(p *probes.Process) bool {
	return slices.ContainsFunc(makers, func(t string) bool { return p.Comm == t || strings.HasPrefix(p.Comm, t+".") })
}

// OfDriver asks whether a process that has the device is such a tool at its work, started by the
// driver's own pod: the mount waits for it, and nobody keeps the device from the driver.
func OfDriver(pl *evidence.Place, pid int) evidence.Answer {
	p, plugin := pl.View.Process(pid), pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	if p == nil || plugin == nil || p.PodUID != string(plugin.UID) || !makes(p) {
		return evidence.No()
	}
	_, works := AtWork(pl.X, pl.Volume, pl.Node)
	return works
}

// worksOn tells whether a process has a device of the volume open, or names it.
func worksOn(view *snapshot.NodeView, d snapshot.VolumeDevice, p *probes.Process) bool {
	own := d.Numbers()
	if slices.ContainsFunc(p.Open, func(o probes.Descriptor) bool { return o.Device && slices.Contains(own, o.Dev) }) {
		return true
	}
	return slices.ContainsFunc(p.Cmdline, func(arg string) bool {
		n, ok := view.NumberAt(arg)
		return ok && slices.Contains(own, n)
	})
}
