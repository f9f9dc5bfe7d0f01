// Package slots answers questions about the places that a node has for the disks of a
// driver: how many there are, who takes them, and does the backend say that none is left.
package slots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Driver is the driver whose places a volume takes: of one that is not provisioned yet
// the one that its class names.
func Driver(v *snapshot.Volume) string {
	if name := v.CSIName(); name != "" || v.PV != nil && v.PV.Spec.CSI != nil {
		return name
	}
	return v.Driver
}

// Taken is who takes places of a driver on a node, each volume once, by what says so. A
// CSI driver and the plugin inside Kubernetes that it followed take the same places.
type Taken struct {
	Node, Driver string
	Attached     []string // PVs of VolumeAttachments that are attached
	Pending      []string // PVs of the other VolumeAttachments to the node
	Listed       int      // further ones in the node's status, under the name of the driver
	InTree       int      // and under that of the plugin
	Plugin       string
	Disks        int // disks of the driver's make that a probe saw, without the node's own
}

// On counts the places of a driver that are taken on a node by other volumes than one.
func On(x *snapshot.Index, driver, node string, besides ...*snapshot.Volume) Taken {
	csi, plugin := snapshot.Twins(driver)
	out := Taken{Node: node, Driver: driver, Plugin: plugin}
	known := map[string]bool{} // names in the status of nodes that are accounted for
	for _, v := range besides {
		for _, u := range v.UniqueNames() {
			known[u] = true
		}
	}
	unresolved := 0 // attachments whose PV was not read: one of the names is theirs
	for _, va := range x.AttachmentsTo(node) {
		if va.Spec.Attacher != csi || csi == "" {
			continue
		}
		name, v := va.Name, (*snapshot.Volume)(nil)
		if pv := va.Spec.Source.PersistentVolumeName; pv != nil {
			name, v = *pv, x.VolumeOfPV(*pv)
		}
		if v != nil && slices.Contains(besides, v) {
			continue
		}
		if v == nil || v.UniqueName() == "" {
			unresolved++
		} else {
			for _, u := range v.UniqueNames() {
				known[u] = true
			}
		}
		list := &out.Pending
		if va.Status.Attached {
			list = &out.Attached
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	out.listed(x, csi, plugin, known, unresolved)
	out.Disks = disksOf(x, out, csi)
	return out
}

// listed counts what the node's status has besides the attachments.
func (t *Taken) listed(x *snapshot.Index, csi, plugin string, known map[string]bool, unresolved int) {
	n := x.Node(t.Node)
	if n == nil {
		return
	}
	for _, a := range n.Status.VolumesAttached {
		name := string(a.Name)
		switch {
		case known[name]:
		case csi != "" && strings.HasPrefix(name, "kubernetes.io/csi/"+csi+"^"):
			t.Listed++
		case plugin != "" && strings.HasPrefix(name, plugin+"/"):
			t.InTree++
		}
	}
	t.Listed = max(0, t.Listed-unresolved)
}

// Count is how many places are taken as the API tells it.
func (t Taken) Count() int { return len(t.Attached) + t.Listed + t.InTree }

// Sources says who takes the places.
func (t Taken) Sources() string {
	var out []string
	add := func(n int, what string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(len(t.Attached), "by VolumeAttachments")
	add(t.Listed, "more in the node's status")
	add(t.InTree, "of "+t.Plugin+" in the node's status, without a VolumeAttachment")
	return strings.Join(out, ", ")
}

// Facts are where the count was read.
func (t Taken) Facts() []report.Evidence {
	out := []report.Evidence{evidence.FromAPI("VolumeAttachments", "of "+t.Driver+" on "+t.Node,
		fmt.Sprintf("%d attached, %d others", len(t.Attached), len(t.Pending)))}
	if t.Listed+t.InTree > 0 {
		out = append(out, evidence.FromAPI("Node "+t.Node, "status.volumesAttached", t.Sources()))
	}
	if t.Disks > 0 {
		out = append(out, evidence.FromNode(t.Node, "sys/class/block", fmt.Sprintf("%d disks of the driver's make, besides the node's own", t.Disks)))
	}
	return out
}

// Limit is how many volumes of a driver the node publishes to take. Absent, that is a
// fact, too.
func Limit(x *snapshot.Index, driver, node string) (limit int, published bool, fact report.Evidence) {
	csi, _ := snapshot.Twins(driver)
	object, field := "CSINode "+node, "spec.drivers["+csi+"].allocatable.count"
	if n := x.CSINode(node); n != nil {
		for _, d := range n.Spec.Drivers {
			if d.Name == csi && d.Allocatable != nil && d.Allocatable.Count != nil {
				return int(*d.Allocatable.Count), true, evidence.FromAPI(object, field, fmt.Sprint(*d.Allocatable.Count))
			}
		}
	}
	return 0, false, evidence.FromAPI(object, field, "absent")
}

// crowded tells whether a node carries at least a number of volumes of a driver that no
// instance type has as its limit, and no other node as many.
func crowded(x *snapshot.Index, t Taken) bool {
	const few = 8
	attached := map[string]int{}
	csi, _ := snapshot.Twins(t.Driver)
	for _, va := range x.Cluster.Attachments {
		if va.Spec.Attacher == csi && va.Status.Attached && va.Spec.NodeName != t.Node {
			attached[va.Spec.NodeName]++
		}
	}
	for _, n := range attached {
		if n >= t.Count() {
			return false
		}
	}
	return t.Count() >= few
}

// Idle are the volumes attached to the node that no pod uses there: letting them go frees
// places. Empty unless pods and nodes were read whole.
func (t Taken) Idle(x *snapshot.Index) []string {
	if !evidence.Resources(x, "/pods", "/nodes").Complete() {
		return nil
	}
	return evidence.Keep(t.Attached, func(name string) bool {
		v := x.VolumeOfPV(name)
		return v != nil && len(v.LiveConsumersOn(t.Node)) == 0 && !x.ReportedInUse(t.Node, v)
	})
}
