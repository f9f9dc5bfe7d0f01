// Package volume answers questions about one volume over all nodes that may have it.
package volume

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// traced says whether everything was read that tells which nodes may have a volume.
func traced(x *snapshot.Index) evidence.Reading {
	return evidence.Resources(x, "/pods", "/persistentvolumes", "/persistentvolumeclaims", "/nodes", "storage.k8s.io/volumeattachments")
}

// Everywhere asks whether every node that may have a volume was read whole: its
// mounts, open files and block devices.
func Everywhere(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	whole, nodes := traced(x), x.NodesOf(v)
	for _, n := range nodes {
		whole = whole.And(node.Whole(x, n, probes.Mounts, probes.Descriptors, probes.Block))
	}
	return whole.Nothing(evidence.FromAPI("VolumeAttachments, pods and node status", "node", "the volume may be on "+orNone(nodes)+", read whole"))
}

// UnusedOn asks whether nothing on a node uses a volume: no mount of its paths, and
// its device, where it is there, is free but for what belongs on top of it.
func UnusedOn(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	whole := node.Whole(x, on, probes.Mounts, probes.Descriptors, probes.Block)
	for _, m := range x.VolumeMounts(v, on) {
		return evidence.No(evidence.FromNode(on, "proc/1/mountinfo", m.Mount.Raw))
	}
	d, found := x.DeviceOn(v, on)
	if !found {
		return whole.Nothing(evidence.FromNode(on, "sys/class/block", "no device and no mount of the volume"))
	}
	above := evidence.Each(d.Stack, func(b *probes.BlockDevice) string { return b.Name })
	out := []evidence.Answer{}
	for _, dev := range d.Numbers() {
		out = append(out, disk.Unmounted(x, on, dev), disk.Closed(x, on, dev))
	}
	return evidence.All(append(out, disk.Bare(x, on, d.Dev, above...))...)
}

// UnmountedEverywhere asks whether no node that may have a volume mounts its device.
func UnmountedEverywhere(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	out := []evidence.Answer{Everywhere(x, v)}
	for _, n := range x.NodesOf(v) {
		for _, m := range x.VolumeMounts(v, n) {
			return evidence.No(evidence.FromNode(n, "proc/1/mountinfo", m.Mount.Raw))
		}
		if d, found := x.DeviceOn(v, n); found {
			for _, dev := range d.Numbers() {
				out = append(out, disk.Unmounted(x, n, dev))
			}
		}
	}
	return evidence.All(out...)
}

// NotInUse asks whether the kubelet of a node does not report a volume in use.
func NotInUse(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	if x.ReportedInUse(on, v) {
		return evidence.No(evidence.FromAPI("Node "+on, "status.volumesInUse", v.UniqueName()))
	}
	if v.UniqueName() == "" {
		return evidence.Unseen(evidence.Lack{Need: "api//persistentvolumes", Why: "the volume's name in the status of nodes is not known"})
	}
	if x.Node(on) == nil {
		return evidence.Unseen(evidence.Lack{Need: "api//nodes", Node: on, Why: "node " + on + " was not read"})
	}
	return evidence.Yes(evidence.FromAPI("Node "+on, "status.volumesInUse", fmt.Sprintf("does not list %s", v.UniqueName())))
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "no node"
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, ", ")
}
