package multipath

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	config "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// KeepsOff asks whether multipathd of a node leaves the disks of Longhorn's v1 engine
// alone: it does not run, or its configuration excludes them. The second result are
// those that it may take.
func KeepsOff(x *snapshot.Index, node string) (evidence.Answer, []string) {
	whole, view := evidence.Tables(x, node, probes.Maps), x.View(node)
	if view == nil {
		return evidence.Unseen(whole.Lacks()...), nil
	}
	m := view.Facts.Multipath
	switch {
	case !m.Active():
		return whole.Nothing(evidence.FromNode(node, "proc/*/comm", "no multipathd")), nil
	case !m.ConfigRead:
		return evidence.Unseen(evidence.Lack{Need: "node/" + node + "/" + string(probes.Maps), Node: node, Why: "etc/multipath.conf was not read"}), nil
	}
	active := evidence.FromNode(node, daemon(m), "multipathd is active")
	if open := Open(view); len(open) > 0 {
		return evidence.No(active, evidence.FromNode(node, "etc/multipath.conf", fmt.Sprintf("%d sections, no blacklist that matches; find_multipaths does not keep the daemon off", len(m.Config)))), open
	}
	return evidence.Yes(active, evidence.FromNode(node, "etc/multipath.conf", "the disks of Longhorn are excluded")), nil
}

// ofLonghorn tells whether a disk is one of Longhorn's v1 engine (tgt calls it so).
func ofLonghorn(b *probes.BlockDevice) bool {
	return strings.TrimSpace(b.Vendor) == "IET" && strings.TrimSpace(b.Model) == "VIRTUAL-DISK"
}

// OfLonghornOn asks whether disks of Longhorn's v1 engine are on the place's node, or may
// come: a volume of that engine is attached there. A hazard that nothing speaks of is none.
func OfLonghornOn(pl *evidence.Place) evidence.Answer {
	if slices.ContainsFunc(pl.View.Blocks(), ofLonghorn) {
		return evidence.Yes()
	}
	for _, v := range pl.X.VolumesOn(pl.Node) {
		if lh := v.LH(); lh != nil && lh.DataEngine != "v2" && (lh.Status.CurrentNodeID == pl.Node || lh.NodeID == pl.Node) {
			return evidence.Yes()
		}
	}
	return evidence.No()
}

// Open are the disks of Longhorn that the configuration leaves to the daemon;
// without any on the node, the disk that will come.
func Open(view *snapshot.NodeView) []string {
	var out []string
	seen := false
	for _, b := range view.Blocks() {
		if !ofLonghorn(b) {
			continue
		}
		seen = true
		if excluded, _ := config.Excluded(view.Facts.Multipath.Config, diskOf(view, b)); !excluded {
			out = append(out, b.Name)
		}
	}
	if seen {
		return out
	}
	next := config.Disk{Vendor: "IET", Product: "VIRTUAL-DISK", WWID: "360000000000000000e00000000010001", Devnode: "sdb", Protocol: "scsi:iscsi"}
	if excluded, _ := config.Excluded(view.Facts.Multipath.Config, next); !excluded {
		out = append(out, "to come")
	}
	return out
}

func diskOf(view *snapshot.NodeView, b *probes.BlockDevice) config.Disk {
	d := config.Disk{Vendor: strings.TrimSpace(b.Vendor), Product: strings.TrimSpace(b.Model), Devnode: b.Name, Protocol: "scsi:iscsi"}
	if id, ok := strings.CutPrefix(strings.TrimSpace(b.WWID), "naa."); ok {
		d.WWID = "3" + id
	}
	for _, line := range view.Facts.Udev[b.Dev] {
		if e, ok := strings.CutPrefix(line, "E:"); ok {
			if name, value, ok := strings.Cut(e, "="); ok {
				if d.Properties == nil {
					d.Properties = map[string]string{}
				}
				d.Properties[name] = value
			}
		}
	}
	return d
}

// Remembered names WWIDs of Longhorn in the daemon's own list: those it takes even
// with find_multipaths.
func Remembered(view *snapshot.NodeView) string {
	if view == nil {
		return ""
	}
	n := len(evidence.Keep(view.Facts.Multipath.WWIDs, func(w string) bool { return strings.HasPrefix(w, "360000000000000000e0000") }))
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" /etc/multipath/wwids already lists %d such disks, which recur across volumes.", n)
}

// daemon is where it was seen that multipathd is active.
func daemon(m probes.Multipath) string {
	if len(m.DaemonPIDs) > 0 {
		return fmt.Sprintf("proc/%d/comm", m.DaemonPIDs[0])
	}
	return "@multipathd"
}
