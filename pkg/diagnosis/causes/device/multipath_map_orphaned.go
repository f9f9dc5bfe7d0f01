package device

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed multipath_map_orphaned.md
var multipathMapOrphanedDoc string

// MultipathMapOrphaned finds a map without usable paths: left over from an old
// attachment, or still mounted while its disks came back beside it.
var MultipathMapOrphaned = &diagnosis.Rule{
	Name: "multipath-map-orphaned", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.Probe("blockdev"), diagnosis.Probe("mountns")},
	Explains: []string{"detach-stuck", "multi-attach-error", "unmount-blocked", "volume-io-error", "volume-hung", "pod-waiting-for-volume"},
	LeadsTo:  []string{"device-lun-reused", "filesystem-readonly-after-error"},
	YieldsTo: []string{"multipath-claims-device"},
	Offers:   []string{"multipath-flush", "unmap-device"},
	Doc:      multipathMapOrphanedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range nodesOf(p, v) {
				if view := p.View(node); view != nil {
					orphanedMaps(p, v, view)
				}
			}
		}
		if p.Sweep() {
			for _, node := range p.Nodes() {
				unownedMaps(p, node)
			}
		}
	},
}

// orphanedMaps looks at every map of the node without a usable path.
func orphanedMaps(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	for i := range view.Facts.Block {
		m := &view.Facts.Block[i]
		if !disk.IsMapped(m, "mpath-") || !view.NoPath(m) {
			continue
		}
		mine, how := mapOfVolume(p, v, view, m)
		if mountedAbove(view, m.Dev) {
			if disks := disksOutside(view, m); len(disks) > 0 && mine {
				pathsLost(p, v, view, m, disks)
			}
			continue
		}
		released, why := p.WantedReleased(v, view.Name)
		if released && stuck(p, v, view.Name) && (mine || !hasOwnDevice(p, v, view) && !ownedByOther(p, v, view, m)) {
			leftOver(p, v, view, m, mine, how, "stays attached to the node although "+why)
			continue
		}
		if d, ok := p.DeviceOn(v, view.Name); mine && p.WantedHere(v, view.Name) && !(ok && contains(m.Slaves, kernelName(d))) {
			leftOver(p, v, view, m, mine, how, "cannot be mounted there: whoever looks for its map finds this dead one")
		}
	}
}

// hasOwnDevice tells whether the volume's device on the node is known by its identity,
// or is of a kind that never lies under a multipath map: then a map that is not tied
// to it is somebody else's.
func hasOwnDevice(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) bool {
	d, ok := p.DeviceOn(v, view.Name)
	return ok && d.Proven && d.Block != nil || v.IsLonghorn() || isRBD(v)
}

// stuck tells whether the volume's attachment to a node should go and does not. Drivers
// without VolumeAttachments show it in the node's volumesInUse.
func stuck(p *diagnosis.Pass, v *snapshot.Volume, node string) bool {
	if va := v.AttachmentOn(node); va != nil {
		return va.DeletionTimestamp != nil || len(v.LiveConsumersOn(node)) == 0
	}
	return len(v.LiveConsumersOn(node)) == 0 && (p.ReportedInUse(node, v) || p.ReportedAttached(node, v))
}

// leftOver reports a map that nobody mounts and that has no path left.
func leftOver(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice, mine bool, how, so string) {
	c := report.Certain
	va := v.AttachmentOn(view.Name)
	if !mine && (va == nil || va.DeletionTimestamp == nil || len(orphans(view)) > 1) {
		c = report.Likely // the map is tied to the volume by its stuck attachment only, or not even by that
	}
	f := p.Find(c, diagnosis.DeviceSubject(view.Name, m.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, m.Dev)
	above := aboveMap(view, m)
	f.Sayf("The multipath map %s (%s, %s) on node %s has no usable path left and is mounted nowhere, but it is still there%s. "+
		"The driver cannot remove it, so volume %s %s.",
		m.DM.Name, m.Name, m.Dev, view.Name, above, volumeName(v), so)
	f.Fact(
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/uuid", m.DM.UUID),
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/slaves", pathStates(view, m)),
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/holders", orNone(strings.Join(m.Holders, " "))),
	)
	if how != "" {
		f.Fact(diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/uuid", how))
	}
	if va != nil {
		f.Object("va", va.Name)
		f.Fact(diagnosis.FromAPI("VolumeAttachment "+va.Name, "status.attached", fmt.Sprintf("%t on %s", va.Status.Attached, view.Name)))
	}
	f.Unless("a path of the map in state running, or a mount of the map")
	f.Advise(remedy.MultipathFlush(view, m))
	p.Report(f)
}

// pathsLost reports a mounted map whose disks are back beside it.
func pathsLost(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice, disks []string) {
	f := p.Find(report.Certain, diagnosis.DeviceSubject(view.Name, m.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, m.Dev)
	if len(v.LiveConsumersOn(view.Name)) > 0 {
		f.Explains = []string{"volume-io-error", "volume-hung", "unmount-blocked", "pod-waiting-for-volume"}
	}
	f.Sayf("The multipath map %s (%s) under volume %s, which is mounted on node %s, has lost all its paths, while the disks with its WWID run beside it: %s. "+
		"The filesystem above gets no I/O until the map has its paths back.", m.DM.Name, m.Dev, volumeName(v), view.Name, strings.Join(disks, ", "))
	f.Fact(
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/uuid", m.DM.UUID),
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/slaves", pathStates(view, m)),
	)
	f.Unless("a usable path below the map")
	f.Advise(remedy.Words(fmt.Sprintf("Give the map its paths back on node %s: multipathd add path %s (each disk), then multipathd reconfigure. Restart the pod afterwards. Do not flush or remove a mounted map.", view.Name, strings.Join(disks, " "))))
	p.Report(f)
}

// kernelName is the name of a volume's device, or empty.
func kernelName(d snapshot.VolumeDevice) string {
	if d.Block == nil {
		return ""
	}
	return d.Block.Name
}

func aboveMap(view *snapshot.NodeView, m *probes.BlockDevice) string {
	var out []string
	for _, h := range view.HoldersOf(m.Dev) {
		name := h.Device.Name
		if h.Device.DM != nil {
			name = h.Device.DM.Name + " (" + h.Device.Name + ", " + h.Device.DM.UUID + ")"
		}
		out = append(out, name)
	}
	if len(out) == 0 {
		return ""
	}
	return ", pinned by " + strings.Join(out, ", ")
}

// pathStates prints the slaves of a map with their states.
func pathStates(view *snapshot.NodeView, m *probes.BlockDevice) string {
	var out []string
	for _, s := range m.Slaves {
		state := view.DeadPath(s)
		if state == "" {
			state = disk.OrUnknown(view.ByName(s).State)
		}
		out = append(out, s+"="+state)
	}
	return orNone(strings.Join(out, " "))
}

func orphans(view *snapshot.NodeView) []string {
	var out []string
	for i := range view.Facts.Block {
		m := &view.Facts.Block[i]
		if disk.IsMapped(m, "mpath-") && view.NoPath(m) && !mountedAbove(view, m.Dev) {
			out = append(out, m.Name)
		}
	}
	return out
}
