package remedy

import (
	"net"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Unmapped takes away from a node what it still maps of a volume: the session, where nothing else hangs on its
// target, else the disk's own paths.
func Unmapped(view *snapshot.NodeView, v *snapshot.Volume, b volume.Behind) []Step {
	d := b.Device.Block
	target, address, port := b.Session()
	company := b.Company()
	switch {
	case len(company) > 0:
		steps := evidence.Each(b.Maps(), func(m *probes.BlockDevice) Step { return MultipathFlush(view, m) })
		maps := evidence.Each(b.Maps(), func(m *probes.BlockDevice) string { return m.Name })
		return append(steps, DeletePaths(view, v, b.Disks(), maps...)...)
	case target != "":
		return []Step{LogoutISCSI(view.Name, v, target, net.JoinHostPort(address, port))}
	case strings.HasPrefix(d.Name, "rbd"):
		return []Step{UnmapRBD(view, v, d)}
	}
	return []Step{Words("Let the driver's node pod on " + view.Name + " detach " + d.Name + " (restart it), or detach it in the storage backend.")}
}

// DeletePaths deletes SCSI disks that a node kept of a volume, and leaves the sessions alone that they came by:
// other volumes' disks hang on those. The maps may lie on the disks.
func DeletePaths(view *snapshot.NodeView, v *snapshot.Volume, disks []*probes.BlockDevice, maps ...string) []Step {
	var names, idles, acts []string
	var marks []disk.Mark
	var guards []Guard
	var undo []Command
	node := view.Name
	for _, b := range disks {
		names, marks = append(names, b.Name), append(marks, disk.Marks(view, b)...)
		guards = append(append(guards, free(node, b, maps...)...), Known(node, b), unclaimed(node, b))
		idles = append(idles, idle(view, b, maps...), "! ls "+quote("/sys/class/block/"+b.Name+"/holders")+" | grep -q .") // a map that was flushed is none, one that came back is
		acts = append(acts, "echo 1 > "+quote("/sys/class/block/"+b.Name+"/device/delete"))
		if host, _, ok := strings.Cut(b.HCTL, ":"); ok {
			undo = append(undo, OnNode(node, "sh", "-c", "echo '- - -' > "+quote("/sys/class/scsi_host/host"+host+"/scan")))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Step{{
		Name: "unmap-device", Title: titled("Delete only %s on node %s. Never log out of a target that carries other disks.", strings.Join(names, ", "), node),
		Commands: []Command{guarded(node, marks, append(idles, acts...)...)},
		Risk:     Disruptive, Guards: append(guards, NoneUses(v, node)), Undo: undo,
		Verify: []Command{OnNode(node, "ls", "/sys/class/block/")},
	}}
}

// AfterPaths are steps for a map whose storage may only be away for a moment.
func AfterPaths(node string, steps ...Step) []Step {
	return append([]Step{Check("See whether its paths come back.", OnNode(node, "multipath", "-ll"))}, steps...)
}
