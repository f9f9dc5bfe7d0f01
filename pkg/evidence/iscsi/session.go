// Package iscsi answers questions about iSCSI sessions of a node.
package iscsi

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Free asks whether every disk of every session to a target is free, and no pod of
// the node uses a volume that lies on one of them. A logout takes all disks of the
// target along, whichever volume they are.
func Free(x *snapshot.Index, on, target string) evidence.Answer {
	whole := node.Whole(x, on, probes.Sessions, probes.Block)
	view := x.View(on)
	if view == nil {
		return whole.Nothing()
	}
	sessions := view.SessionsOf(target)
	if len(sessions) == 0 {
		return whole.And(evidence.Partial(evidence.Lack{Need: "node/" + on + "/" + string(probes.Sessions), Node: on, Why: "no session to the target"})).Nothing()
	}
	var names []string
	out := []evidence.Answer{}
	for _, s := range sessions {
		for _, name := range s.Disks {
			b := view.ByName(name)
			if b == nil {
				out = append(out, evidence.Unseen(evidence.Lack{Need: "node/" + on + "/" + string(probes.Block), Node: on, Why: "disk " + name + " of the session was not read"}))
				continue
			}
			names = append(names, name)
			out = append(out, disk.Free(x, on, b.Dev), disk.Unclaimed(x, on, b.Dev), unwanted(x, on, b.Dev))
		}
	}
	fact := evidence.FromNode(on, "sys/class/iscsi_session", "the disks at "+target+" are "+strings.Join(names, ", "))
	return evidence.All(append([]evidence.Answer{whole.Nothing(fact)}, out...)...)
}

// LoggedOut asks whether the node has no session to the target that the volume names, and no
// connection to its NVMe subsystem: the disk comes with it, and its driver makes it when it stages
// the volume. So it is where Fibre Channel has no port left. Of a volume that names none that is not seen, unless the node has none at all.
func LoggedOut(pl *evidence.Place) evidence.Answer {
	if pl.View == nil || pl.Volume.IsLonghorn() {
		return evidence.No()
	}
	if named := pl.Volume.NVMeSubsystems(pl.Node); len(named) > 0 || overNVMe(pl.Volume) {
		return unconnected(pl, named)
	}
	if OverFC(pl.Volume) {
		return noPath(pl)
	}
	targets, _ := pl.Volume.ISCSITargets(pl.Node)
	sessions := pl.View.Facts.ISCSI.Sessions
	switch {
	case len(targets) == 0 && !Uses(pl.X, pl.Volume, pl.Texts):
		return evidence.No()
	case len(targets) == 0 && len(sessions) > 0:
		return evidence.Unseen(evidence.Lack{Need: "the target of the volume", Node: pl.Node, Why: "nothing names it"})
	case slices.ContainsFunc(sessions, func(s probes.ISCSISession) bool { return slices.Contains(targets, s.Target) }):
		return evidence.No()
	}
	return pl.Tables(probes.Sessions).Nothing()
}

// unwanted asks whether no pod on the node uses a volume of which a disk is a path.
func unwanted(x *snapshot.Index, on string, dev probes.Dev) evidence.Answer {
	for _, v := range x.Volumes {
		if d, ok := x.DeviceOn(v, on); ok && slices.Contains(d.Numbers(), dev) {
			if a := pods.NoneUses(x, v, on); !a.Yes() {
				return a
			}
		}
	}
	return evidence.Resources(x, "/pods", "/persistentvolumes", "/persistentvolumeclaims").Nothing()
}
