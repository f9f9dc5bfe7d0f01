package diagnosis

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// shownMounts bounds the mount lines of one device in the table.
const shownMounts = 4

// node adds a node with its readiness and whether it was looked at.
func (c *chain) node(name string) {
	ready := c.p.NodeReady(name)
	state := "NotReady"
	switch {
	case !ready.Exists:
		state = c.absent("/nodes", "no Node object")
	case !ready.Known:
		state = "no Ready condition"
	case ready.Ready:
		state = "Ready"
	}
	note := "probed"
	if gap, missing := c.p.NodeGap(name); missing {
		note = "not probed: " + gap.Reason
	}
	c.add(row{Link: report.Link{Kind: "Node", Name: name, State: state, Since: c.since(ready.Since), Note: note},
		subject: "Node " + name, node: name, layer: Transport})
}

// devices adds the block device of a volume on a node, what sits on it, and
// where it is mounted.
func (c *chain) devices(v *snapshot.Volume, node string) {
	d, ok := c.p.DeviceOn(v, node)
	if !ok {
		c.mounts(v, node)
		return
	}
	name, state := node+"/"+d.Dev.String(), "gone"
	if d.Block != nil {
		name, state = name+" "+d.Block.Name, d.Block.State
		if d.Block.ReadOnly {
			state = strings.TrimSpace(state + " read-only")
		}
	}
	if state == "" {
		state = "present"
	}
	how, _, _ := strings.Cut(d.How, " of iqn.") // the IQN repeats the volume's name
	c.add(row{Link: report.Link{Kind: "Device", Name: name, State: state, Note: how},
		subject: DeviceSubject(node, d.Dev).String(), node: node, layer: Device})
	for _, h := range d.View.HoldersOf(d.Dev) {
		c.holder(node, h, d)
	}
	c.uses(d)
	c.mounts(v, node)
}

// holder adds a device above the volume's device.
func (c *chain) holder(node string, h snapshot.Holder, d snapshot.VolumeDevice) {
	state, note := "holds it", ""
	if h.Device.DM != nil {
		note = h.Device.DM.Name
		if owner, _, ok := strings.Cut(h.Device.DM.UUID, "-"); ok {
			state = owner
		}
	}
	if d.Mapper != nil && d.Mapper.Dev == h.Device.Dev {
		note = strings.TrimSpace(note + " (belongs to the volume)")
	}
	c.add(row{Link: report.Link{Kind: "Holder", Name: node + "/" + h.Device.Dev.String() + " " + h.Device.Name, State: state, Note: note},
		subject: DeviceSubject(node, h.Device.Dev).String(), node: node})
}

// uses adds the mounts of the device in namespaces other than the host's. A copy that
// goes when the host's mount goes (propagation) is as usual and worth no row.
func (c *chain) uses(d snapshot.VolumeDevice) {
	host := len(d.View.InitUses(d.Dev)) > 0
	shown := 0
	for _, u := range d.View.ForeignUses(d.Dev) {
		if host && !u.Mount.Private() {
			continue
		}
		if shown++; shown > shownMounts {
			break
		}
		note := fmt.Sprintf("mount namespace %d", u.NS.ID)
		if len(u.NS.PIDs) > 0 {
			note = fmt.Sprintf("PID %d", u.NS.PIDs[0])
			note += c.ownerOf(d.View, u.NS.PIDs[0])
		}
		c.add(row{Link: report.Link{Kind: "Mount", Name: u.Mount.Point, State: access(u.Mount) + ", other namespace", Note: note},
			subject: "Mount", node: d.Node})
	}
}

func (c *chain) ownerOf(view *snapshot.NodeView, pid int) string {
	process := view.Process(pid)
	if process == nil {
		return ""
	}
	if who := c.p.WhoIs(view, process); who.Pod != nil {
		return " of pod " + who.Pod.Namespace + "/" + who.Pod.Name
	}
	return " (" + process.Comm + ")"
}

// mounts adds the volume's mounts below the kubelet's directory.
func (c *chain) mounts(v *snapshot.Volume, node string) {
	for i, m := range c.p.VolumeMounts(v, node) {
		if i == shownMounts {
			break
		}
		note := m.Mount.FSType
		if m.Path.PodUID != "" {
			if pod := c.p.PodByUID(m.Path.PodUID); pod != nil {
				note += " for pod " + pod.Namespace + "/" + pod.Name
			} else {
				note += " for a pod that is gone"
			}
		}
		c.add(row{Link: report.Link{Kind: "Mount", Name: m.Path.Kind + " " + m.Mount.Dev.String(), State: access(m.Mount), Note: note},
			subject: DeviceSubject(node, m.Mount.Dev).String(), node: node, layer: Filesystem})
	}
}

func access(m probes.Mount) string {
	if m.HasOption("ro") || m.HasSuper("ro") {
		return "read-only"
	}
	return "read-write"
}
