package device

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// unownedMaps reports, for a question about nodes, the dead maps that belong to no volume
// and to nobody on the machine: no volume suffers, and whatever scans the disks of the node
// does. The storage may be away for a moment only, so it is never certain.
func unownedMaps(p *diagnosis.Pass, node string) {
	view := p.View(node)
	if view == nil {
		return
	}
	for i := range view.Facts.Block {
		m := &view.Facts.Block[i]
		if !disk.IsMapped(m, "mpath-") || !view.NoPath(m) || p.Reported(diagnosis.DeviceSubject(node, m.Dev)) || ownedByOther(p, nil, view, m) || !p.Has("/persistentvolumes") {
			continue
		}
		free := evidence.All(disk.Unmounted(p.Index, node, m.Dev), disk.Closed(p.Index, node, m.Dev), disk.Bare(p.Index, node, m.Dev, multipath.PartitionNames(view, m)...))
		if free.No() {
			continue
		}
		f := p.Find(report.Likely, diagnosis.DeviceSubject(node, m.Dev)).Located(node)
		f.Device(node, m.Dev)
		f.Explains, f.Severity = []string{}, report.Degraded
		f.Sayf("The multipath map %s (%s, %s) on node %s has no usable path left, and nothing uses it: it belongs to no PersistentVolume of this cluster. No volume suffers from it, but what reads all disks of the node (udev, LVM, a new login) can wait for it. If its storage is only away for a moment, multipathd makes the map anew.",
			m.DM.Name, m.Name, m.Dev, node)
		f.Fact(
			diagnosis.FromNode(node, "sys/class/block/"+m.Name+"/dm/uuid", m.DM.UUID),
			diagnosis.FromNode(node, "sys/class/block/"+m.Name+"/slaves", pathStates(view, m)),
		)
		f.Fact(free.Facts()...)
		for _, l := range free.Lacks() {
			p.Miss(l.Need, l.Node)
			f.Missing(l.String())
		}
		f.Unless("a path of the map in state running, or a volume or a guest of this machine that is this disk")
		f.Advise(remedy.Check("See whether its paths come back.", remedy.OnNode(node, "multipath", "-ll")), remedy.MultipathFlush(view, m))
		p.Report(f)
	}
}
