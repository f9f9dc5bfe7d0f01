// Package volume answers questions about one volume over all nodes that may have it.
package volume

import (
	"fmt"
	"slices"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

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

// objects are a volume and the other PVs and sources that stand for the same one in its
// backend: each has pods, attachments and paths of its own.
func objects(x *snapshot.Index, v *snapshot.Volume) []*snapshot.Volume {
	if v == nil {
		return nil
	}
	return append([]*snapshot.Volume{v}, x.Others(v)...)
}

// Nodes are all nodes with a trace of what a volume is in its backend.
func Nodes(x *snapshot.Index, v *snapshot.Volume) []string {
	var out []string
	for _, o := range objects(x, v) {
		for _, n := range x.NodesTraced(o) {
			out = evidence.Once(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// mounted is a line of a mount of a volume on a node, under whatever name.
func mounted(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	for _, o := range objects(x, v) {
		for _, m := range x.VolumeMounts(o, on) {
			return evidence.Yes(evidence.FromNode(on, "proc/1/mountinfo", m.Mount.Raw))
		}
	}
	return evidence.No()
}

// Everywhere asks whether every node that may have a volume was read whole: its
// mounts, open files and block devices.
func Everywhere(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	whole, nodes := traced(x), Nodes(x, v)
	for _, n := range nodes {
		whole = whole.And(node.Whole(x, n, probes.Mounts, probes.Descriptors, probes.Block))
	}
	return whole.Nothing(evidence.FromAPI("VolumeAttachments, pods and node status", "node", "the volume may be on "+orNone(nodes)+", read whole"))
}

// UnusedOn asks whether nothing on a node uses a volume: no mount of its paths, and
// its device, where it is there, is free but for what belongs on top of it.
func UnusedOn(x *snapshot.Index, v *snapshot.Volume, on string) evidence.Answer {
	whole := node.Whole(x, on, probes.Mounts, probes.Descriptors, probes.Block)
	if m := mounted(x, v, on); m.Yes() {
		return evidence.No(m.Facts()...)
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
	return evidence.All(append(out, disk.Alone(x, on, d.Dev, above...))...)
}

// UnmountedEverywhere asks whether no node that may have a volume mounts its device.
func UnmountedEverywhere(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	out := []evidence.Answer{Everywhere(x, v)}
	for _, n := range Nodes(x, v) {
		if m := mounted(x, v, n); m.Yes() {
			return evidence.No(m.Facts()...)
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

// MadeFor asks whether an attachment was made for the node that has its name now: the
// machine of an earlier one may run and have the disk, and nobody can look at it.
func MadeFor(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	n := x.Node(va.Spec.NodeName)
	if n == nil {
		return evidence.Unseen(evidence.Lack{Need: "api//nodes", Node: va.Spec.NodeName, Why: "node " + va.Spec.NodeName + " was not read"})
	}
	made := n.CreationTimestamp.Time
	return evidence.When(!made.After(va.CreationTimestamp.Time), evidence.FromAPI("Node "+n.Name, "metadata.creationTimestamp", made.UTC().Format(time.RFC3339)))
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "no node"
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return strings.Join(list, ", ")
}
