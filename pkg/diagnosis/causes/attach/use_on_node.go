package attach

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// use is whether anything on a probed node uses a volume.
type use struct {
	Used     string // the first thing that does; empty: none seen
	Free     string // the negatives in words
	Evidence []report.Evidence
	Missing  []string // what could not be looked at
}

// useOn looks for mounts, holders, live superblocks, swap, descriptors and client
// maps of a volume on a node. The session that Longhorn keeps while a volume is
// attached is not use; a session or map that the node plugin makes at staging is.
func useOn(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) use {
	var u use
	if ms := p.VolumeMounts(v, view.Name); len(ms) > 0 {
		u.Used = "mounted at " + ms[0].Mount.Point
		return u
	}
	d, found := p.DeviceOn(v, view.Name)
	if found {
		if u.Used = deviceUse(v, view, d); u.Used != "" {
			return u
		}
	}
	if !view.AllNamespacesRead() {
		u.Missing = append(u.Missing, fmt.Sprintf("%d mount namespaces of node %s, whose tables could not be read", view.Unread(), view.Name))
	}
	for _, l := range evidence.TablesFor(p.Index, v, view.Name, probes.Mounts, probes.Descriptors).Lacks() {
		u.Missing = append(u.Missing, l.String())
	}
	so := ""
	if len(u.Missing) > 0 {
		so = "as far as it could be read, "
	}
	if !found {
		u.unidentified(v, view)
		u.Free = so + "it has no mount and no device of the volume"
		u.Evidence = append(u.Evidence, diagnosis.FromNode(view.Name, "sys/class/block", "no device of volume "+volumeName(v)))
		return u
	}
	u.Free = so + fmt.Sprintf("device %s is in no mount table, has no holder, no live superblock and no process with it open", d.Dev)
	u.Evidence = append(u.Evidence, diagnosis.FromNode(view.Name, d.Locator, d.How))
	if d.Block != nil {
		u.Evidence = append(u.Evidence, diagnosis.FromNode(view.Name, "sys/class/block/"+d.Block.Name+"/holders", strings.Join(d.Block.Holders, " ")+" (empty)"))
	}
	return u
}

// unidentified notes disks that may be the volume's: where no disk was found by its
// identity, one without any, or of the volume's size, refutes nothing.
func (u *use) unidentified(v *snapshot.Volume, view *snapshot.NodeView) {
	if v.Longhorn != nil {
		return // Longhorn's disks are known by their session
	}
	d := disk.Compare(v, view)
	for _, name := range append(d.Blank, d.Unclaimed, d.Stranger) {
		if name != "" {
			u.Missing = append(u.Missing, "whether disk "+name+" of node "+view.Name+" is the volume's (nothing on it says so)")
		}
	}
	if d.Match {
		u.Missing = append(u.Missing, "which disk of node "+view.Name+" is the volume's: one carries its name but could not be matched")
	}
}

func deviceUse(v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) string {
	for _, dev := range d.Numbers() {
		if uses := view.Uses(dev); len(uses) > 0 {
			return "mounted at " + uses[0].Mount.Point
		}
		if view.Superblock(dev) != nil {
			return "a live superblock"
		}
		if view.Swap(dev) != nil {
			return "swap"
		}
		if o := view.Openers(dev); len(o) > 0 {
			return fmt.Sprintf("open in process %d", o[0].Process.PID)
		}
	}
	for _, h := range view.HoldersOf(d.Dev) {
		if d.Mapper == nil || h.Device.Dev != d.Mapper.Dev {
			return "held by " + h.Device.Name
		}
	}
	switch {
	case d.Mapper != nil && d.Mapper.DM != nil && strings.HasPrefix(d.Mapper.DM.UUID, "CRYPT-"):
		return "opened as " + d.Mapper.DM.Name
	case d.Block == nil || v.Longhorn != nil:
		return ""
	case strings.HasPrefix(d.Block.Name, "rbd"), strings.HasPrefix(d.Block.Name, "nbd"):
		return "mapped as " + d.Block.Name
	case view.SessionOfDisk(d.Block.Name) != nil:
		return "logged in as " + d.Block.Name
	}
	return ""
}
