// Package multipath answers questions about multipathd and its maps.
package multipath

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NoMaps asks whether the daemon has no map and sysfs shows none on a node.
func NoMaps(x *snapshot.Index, on string) evidence.Answer {
	whole := node.Whole(x, on, probes.Block, probes.Maps)
	view := x.View(on)
	if view == nil {
		return whole.Nothing()
	}
	for _, b := range view.Facts.Block {
		if b.DM != nil && strings.Contains(b.DM.UUID, "mpath-") {
			return evidence.No(evidence.FromNode(on, "sys/class/block/"+b.Name+"/dm/uuid", b.DM.UUID))
		}
	}
	for _, m := range view.Facts.Multipath.Maps {
		return evidence.No(evidence.FromNode(on, "@multipathd", "map "+m.Name))
	}
	return whole.Nothing(evidence.FromNode(on, "sys/class/block/*/dm/uuid", "no map of multipathd"))
}

const longhornTargets = "iqn.2019-10.io.longhorn:"

// Unneeded asks whether no storage of the node is of a kind that wants several paths
// to one disk: no session besides Longhorn's, no disk of Fibre Channel (its path is
// named by udev, 60-persistent-storage.rules), no other driver that attaches disks, no PV
// over iSCSI or Fibre Channel.
func Unneeded(x *snapshot.Index, on string) evidence.Answer {
	whole := node.Whole(x, on, probes.Sessions).And(evidence.Resources(x, "storage.k8s.io/csinodes", "storage.k8s.io/csidrivers", "/persistentvolumes"))
	view := x.View(on)
	if view == nil {
		return whole.Nothing()
	}
	for _, s := range view.Facts.ISCSI.Sessions {
		if !strings.HasPrefix(s.Target, longhornTargets) {
			return evidence.No(evidence.FromNode(on, "sys/class/iscsi_session/"+s.Name, s.Target))
		}
	}
	for _, l := range view.Facts.DevLinks {
		if strings.HasPrefix(l.Path, "/dev/disk/by-path/") && strings.Contains(l.Path, "-fc-0x") {
			return evidence.No(evidence.FromNode(on, l.Path[1:], l.Target))
		}
	}
	if n := x.CSINode(on); n != nil {
		for _, d := range n.Spec.Drivers {
			if d.Name != snapshot.LonghornDriver && attaches(x, d.Name) {
				return evidence.No(evidence.FromAPI("CSINode "+on, "spec.drivers", d.Name))
			}
		}
	}
	for _, pv := range x.Cluster.PVs {
		if pv.Spec.FC != nil || pv.Spec.ISCSI != nil {
			return evidence.No(evidence.FromAPI("PersistentVolume "+pv.Name, "spec", "a volume of a SAN"))
		}
	}
	return whole.Nothing(evidence.FromNode(on, "sys/class/iscsi_session", "no session besides Longhorn's"))
}

// attaches tells whether a driver attaches volumes to nodes, as those of disks do.
func attaches(x *snapshot.Index, driver string) bool {
	d := x.CSIDriver(driver)
	return d == nil || d.Spec.AttachRequired == nil || *d.Spec.AttachRequired
}

// partitionMaps are the maps of the partitions of a multipath map, which kpartx makes
// and takes away.
func partitionMaps(view *snapshot.NodeView, m *probes.BlockDevice) []*probes.BlockDevice {
	return evidence.Keep(view.Above(m.Dev), isPartitionMap)
}

// PartitionNames are the kernel names of those maps.
func PartitionNames(view *snapshot.NodeView, m *probes.BlockDevice) []string {
	return evidence.Each(partitionMaps(view, m), func(p *probes.BlockDevice) string { return p.Name })
}

// isPartitionMap tells whether a device is such a map: its uuid is "partN-mpath-…".
func isPartitionMap(d *probes.BlockDevice) bool {
	return d != nil && d.DM != nil && strings.HasPrefix(d.DM.UUID, "part") && strings.Contains(d.DM.UUID, "-mpath-")
}
