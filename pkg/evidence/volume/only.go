package volume

import (
	"maps"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OnlyHere asks whether no node but one mounts a volume that one node may have: also what
// its access modes call shared, where it is a disk here, for they make no filesystem one of
// a cluster. Where nothing in the API tells who had it (no attachments), every node could.
func OnlyHere(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	_, onDisk := x.DeviceOn(v, on)
	if !v.Exclusive() && (!onDisk || v.RegularRWX()) {
		return evidence.Yes(evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.accessModes", "more than one node may mount the volume"))
	}
	nodes := Nodes(x, v)
	whole := traced(x)
	if !v.AttachRequired(x) {
		for _, n := range x.Cluster.Nodes {
			nodes = evidence.Once(nodes, n.Name)
		}
	}
	for _, n := range slices.Sorted(slices.Values(slices.AppendSeq(nodes, maps.Keys(x.NodeViews)))) {
		if n == on {
			continue
		}
		if m := mounted(x, v, n); m.Yes() {
			return evidence.No(m.Facts()...)
		}
		if slices.Contains(nodes, n) {
			whole = whole.And(node.Whole(x, n, probes.Mounts))
		}
	}
	return whole.Nothing(evidence.FromAPI("VolumeAttachments, pods and node status", "node", "no node but "+on+" mounts the volume"))
}
