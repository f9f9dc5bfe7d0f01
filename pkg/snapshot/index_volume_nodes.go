package snapshot

import (
	"maps"
	"slices"
	"sync"
)

// volumesOnNode turns around which nodes have a trace of a volume. It is made when
// first asked for: only questions about many nodes need it.
type volumesOnNode struct {
	once    sync.Once
	volumes map[string][]*Volume
}

// nodesWith are the nodes with a trace of the volume in the API or in what was
// probed of them.
func (x *Index) nodesWith(v *Volume, views []string) []string {
	nodes := x.NodesOf(v)
	for _, n := range views {
		if slices.Contains(nodes, n) {
			continue
		}
		if _, ok := x.DeviceOn(v, n); ok || len(x.VolumeMounts(v, n)) > 0 || len(x.MapsOf(v, n)) > 0 {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// NodesTraced are the nodes with a trace of the volume in the API or in what was probed: a mount,
// a disk or a map without disks may be left on a machine of which the API knows nothing.
func (x *Index) NodesTraced(v *Volume) []string {
	return x.nodesWith(v, slices.Sorted(maps.Keys(x.NodeViews)))
}

// Traced tells whether a node has a trace of the volume: see VolumesOn.
func (x *Index) Traced(v *Volume, node string) bool {
	var views []string
	if x.View(node) != nil {
		views = append(views, node)
	}
	return slices.Contains(x.nodesWith(v, views), node)
}

// volumeNodes are the nodes of a volume, each list to be read only.
type volumeNodes struct{ device, other, all []string }

func (x *Index) nodesOf(v *Volume) volumeNodes {
	if v == nil {
		return volumeNodes{}
	}
	return x.nodesOfVolume.get(v, func(v *Volume) volumeNodes {
		device := x.findDeviceNodes(v)
		other := x.findOtherNodes(v, device)
		return volumeNodes{device: slices.Clip(device), other: slices.Clip(other), all: slices.Clip(slices.Sorted(slices.Values(slices.Concat(device, other))))}
	})
}

// NodesOf returns every node with a trace of the volume in the API: DeviceNodes and
// OtherNodes together, sorted.
func (x *Index) NodesOf(v *Volume) []string { return x.nodesOf(v).all }

// DeviceNodes returns the nodes that should have the volume's block device: what
// Longhorn says, else the nodes with an attached VolumeAttachment, else those
// of the waiting pods, else those of the running ones.
func (x *Index) DeviceNodes(v *Volume) []string { return x.nodesOf(v).device }

// OtherNodes returns every other node with a trace of the volume: a
// VolumeAttachment, an entry in the node's status, any pod of the claim, a
// helper that makes it, a ticket, an engine or an engine's process of Longhorn.
func (x *Index) OtherNodes(v *Volume) []string { return x.nodesOf(v).other }

func (x *Index) findDeviceNodes(v *Volume) []string {
	var nodes nodeList
	if lh := v.LH(); lh != nil {
		nodes.add(lh.Status.CurrentNodeID)
		nodes.add(lh.Status.CurrentMigrationNodeID)
		if len(nodes) == 0 && v.RegularRWX() {
			nodes.add(lh.NodeID)
			if p := x.ShareManagerPod(v); p != nil && len(nodes) == 0 {
				nodes.add(p.Spec.NodeName)
			}
		}
	}
	if len(nodes) > 0 || v.RegularRWX() {
		return nodes
	}
	for _, va := range v.Attachments {
		if va.Status.Attached {
			nodes.add(va.Spec.NodeName)
		}
	}
	for _, pick := range []func() []*Consumer{v.Waiting, v.Live} {
		if len(nodes) > 0 {
			break
		}
		for _, c := range pick() {
			nodes.add(c.Node())
		}
	}
	slices.Sort(nodes)
	return nodes
}

func (x *Index) findOtherNodes(v *Volume, device []string) []string {
	var nodes nodeList
	for _, va := range v.Attachments {
		nodes.add(va.Spec.NodeName)
	}
	for _, c := range v.Consumers {
		nodes.add(c.Node())
	}
	for _, n := range x.longhornTraces(v) {
		nodes.add(n)
	}
	for _, u := range v.UniqueNames() {
		for _, n := range append(slices.Clone(x.inUse[u]), x.attachedOn[u]...) {
			nodes.add(n)
		}
	}
	if v.PV == nil {
		for _, p := range x.HelperPods(v.Called()) {
			nodes.add(p.Spec.NodeName)
		}
	}
	nodes = slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(device, n) })
	slices.Sort(nodes)
	return nodes
}

// longhornTraces are the nodes that a ticket, an engine or a frontend of the volume
// names, and those whose instance-manager runs an engine of it, wanted or not.
func (x *Index) longhornTraces(v *Volume) []string {
	if v.Longhorn == nil {
		return nil
	}
	var nodes nodeList
	for _, t := range v.Tickets() {
		nodes.add(t.NodeID)
	}
	for _, e := range v.Longhorn.Engines {
		nodes.add(e.NodeID)
	}
	for _, f := range v.Longhorn.Frontends {
		nodes.add(f.NodeID)
	}
	for _, im := range x.lhRunning[v.Handle] {
		nodes.add(im.NodeID)
	}
	return nodes
}

// nodeList is a list of node names without repetition.
type nodeList []string

func (l *nodeList) add(name string) {
	if name != "" && !slices.Contains(*l, name) {
		*l = append(*l, name)
	}
}
