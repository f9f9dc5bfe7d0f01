package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// wantsItsMap tells whether a driver stages the map itself: the in-tree iSCSI and FC
// plugins look for it, PVs with several portals need it, and with an unknown driver
// a map of several paths with one identity is how a SAN is meant to be used.
func wantsItsMap(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) bool {
	if v.Longhorn != nil || v.PV == nil {
		return false
	}
	if v.PV.Spec.ISCSI != nil || v.PV.Spec.FC != nil {
		return true
	}
	if c := v.PV.Spec.CSI; c != nil {
		for _, k := range []string{"portals", "targetPortals", "iscsiPortals", "targetIQNs", "portal"} {
			if strings.Count(c.VolumeAttributes[k], ",") > 0 {
				return true
			}
		}
	}
	if multipath.StagesMaps(p.Index, v).Yes() || asksForMap(p, v) {
		return true
	}
	paths := 0
	for _, name := range m.Slaves {
		if view.ByName(name) != nil {
			paths++
		}
	}
	return paths > 1 // one identity: a SAN's paths; several: device-lun-reused
}

// asksForMap tells whether the driver said that it wants a map, or addresses its disks
// by WWN, as drivers of arrays do, and nobody said that the plain disk is busy.
func asksForMap(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if multipath.Asks(t) {
			return true
		}
	}
	_, said := busyText(p, v)
	return !said && len(volumeWWIDs(v)) > 0
}

// othersUnder names other disks below the map that belong to other targets.
func othersUnder(view *snapshot.NodeView, m *probes.BlockDevice, d snapshot.VolumeDevice) []string {
	var out []string
	for _, s := range m.Slaves {
		b := view.ByName(s)
		if b == nil || d.Block == nil || b.Name == d.Block.Name {
			continue
		}
		target := "unknown target"
		if session := view.SessionOfDisk(b.Name); session != nil {
			target = session.Target
		}
		out = append(out, fmt.Sprintf("%s (%s, %s)", b.Name, b.Dev, target))
	}
	return out
}

// busyText returns a fresh statement that the volume's device is busy. By itself it
// makes no holder even possible.
func busyText(p *diagnosis.Pass, v *snapshot.Volume) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		if t.Fresh && (t.Is(message.AlreadyMountedBusy) || t.Is(message.InUseBySystem) || t.Is(message.CryptsetupInUse) || t.Is(message.MpathMember)) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}

// multipathSuspected speaks about a node that was not probed: a fresh busy text
// together with Longhorn's node condition makes multipath possible, never more; the
// mark "mpath_member" in the text is the mount tool's own reading of the disk.
func multipathSuspected(p *diagnosis.Pass, v *snapshot.Volume, node string) {
	text, ok := busyText(p, v)
	if !ok {
		return
	}
	c := report.Certainty("")
	var hint report.Evidence
	if n := p.LHNode(node); n != nil && v.Longhorn != nil {
		if cond, ok := n.Conditions.Get("Multipathd"); ok && cond.Status == "False" {
			c = report.Possible
			hint = diagnosis.FromAPI("Node.longhorn.io "+node, "status.conditions[Multipathd]", strings.TrimSpace("False "+cond.Reason+" "+cond.Message))
		}
	}
	if text.Is(message.MpathMember) {
		c = report.Likely
	}
	if c == "" {
		return
	}
	f := p.Find(c, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Sayf("The disk of volume %s on node %s is busy, and multipathd runs there: it may have built a multipath map over the disk. The node was not probed%s, so no holder was seen.",
		volumeName(v), node, because(p, node))
	f.Fact(text.Evidence(), hint)
	f.NotConfirmed = append(f.NotConfirmed, "the holders of the disk on node "+node)
	f.Unless("a disk without a holder whose dm uuid begins with mpath-")
	f.Advise(remedy.Words("Look on node " + node + " whether the volume's disk has a device-mapper holder (lsblk, /sys/class/block/<disk>/holders), or let the probe run there. If it has: exclude Longhorn's disks (vendor IET, product VIRTUAL-DISK) in /etc/multipath.conf first, then flush that one map."))
	p.Report(f)
}

// because says why a node was not probed.
func because(p *diagnosis.Pass, node string) string {
	if g, ok := p.NodeGap(node); ok {
		return strings.TrimSuffix(" ("+g.Reason+": "+g.Detail, ": ") + ")"
	}
	return ""
}

// claimedAMomentAgo reports a map that is gone while its error is fresh: udev still
// remembers that multipath owned the disk, and the daemon is active.
func claimedAMomentAgo(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice) {
	text, ok := busyText(p, v)
	if !ok || mountedAbove(view, d.Dev) || len(d.Block.Holders) > 0 || !view.Facts.Multipath.Active() {
		return
	}
	if view.Facts.Claims[d.Dev] == "EBUSY" {
		daemonHasItOpen(p, v, view, d, text)
		return
	}
	for _, line := range view.Facts.Udev[d.Dev] {
		if !strings.Contains(line, "DM_MULTIPATH_DEVICE_PATH=1") {
			continue
		}
		f := p.Find(report.Likely, diagnosis.DeviceSubject(view.Name, d.Dev)).On(v).Located(view.Name)
		f.Device(view.Name, d.Dev)
		f.Sayf("multipathd had claimed %s (%s), the disk of volume %s on node %s: the error is fresh and udev still marks the disk as a multipath path. No map is there at probe time.",
			d.Block.Name, d.Dev, volumeName(v), view.Name)
		f.Fact(text.Evidence(), diagnosis.FromNode(view.Name, "run/udev/data/b"+d.Dev.String(), line))
		f.NotConfirmed = append(f.NotConfirmed, "the map itself: it is gone")
		f.Unless("another holder of the disk at the time of the error")
		f.Advise(remedy.Words("Exclude the disk from multipath on node " + view.Name + " before the next attachment; the waiting pod is tried again by itself."))
		p.Report(f)
		return
	}
}

// daemonHasItOpen reports a disk that multipathd has open while something claims it
// and no map is seen: a plain descriptor claims nothing, so it is possible, never more.
func daemonHasItOpen(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, d snapshot.VolumeDevice, text diagnosis.Text) {
	for _, o := range view.Openers(d.Dev) {
		if !slices.Contains(view.Facts.Daemons("multipathd"), o.Process) {
			continue
		}
		f := p.Find(report.Possible, diagnosis.DeviceSubject(view.Name, d.Dev)).On(v).Located(view.Name)
		f.Device(view.Name, d.Dev)
		f.Sayf("multipathd (process %d) on node %s has %s (%s), the disk of volume %s, open, and the disk is claimed by something that was not seen. A map over it was not seen either.",
			o.Process.PID, view.Name, d.Block.Name, d.Dev, volumeName(v))
		f.Fact(text.Evidence(), diagnosis.FromNode(view.Name, o.Descriptor.Path, o.Descriptor.Target))
		f.NotConfirmed = append(f.NotConfirmed, "a holder of the disk whose dm uuid begins with mpath-")
		f.Unless("another holder, mount or exclusive opener of the disk")
		f.Advise(remedy.Words("Take a second sample: a map that is just being built shows as a holder of the disk within seconds. Then exclude the disk from multipath before anything else."))
		p.Report(f)
		return
	}
}
