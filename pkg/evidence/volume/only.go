package volume

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OneNode tells whether a node that has the volume keeps it from the others. Its access modes are half
// an answer: the attach-detach controller holds to them of what it attaches, a share takes every node
// whatever its claim says, and no mode makes the filesystem of a disk one for two, but for those that
// are made for it. What one node serves to the others (sharedv4 of Portworx) is a share for them.
func OneNode(x *snapshot.Index, v *snapshot.Volume) bool {
	if v.Exclusive() {
		return v.AttachRequired(x) || KindOf(x, v)&Disk != 0
	}
	served := func(m snapshot.VolumeMount) bool { k := byType(m.Mount.FSType); return k != Anything && k&Shares != 0 }
	return KindOf(x, v) == Disk && !v.Block() && !readers(v) && !disk.OfCluster(v.FSType()) && !slices.ContainsFunc(x.NodesOf(v), func(n string) bool {
		return slices.ContainsFunc(x.VolumeMounts(v, n), served)
	})
}

// readers tells whether a volume is for reading alone: who has it is in nobody's way.
func readers(v *snapshot.Volume) bool {
	return slices.Equal(v.AccessModes(), []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany})
}

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
