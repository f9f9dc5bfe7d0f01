package device

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed device_is_not_the_volume.md
var deviceIsNotTheVolumeDoc string

// DeviceIsNotTheVolume finds a device node of a volume that leads to another disk.
var DeviceIsNotTheVolume = &diagnosis.Rule{
	Name: "device-is-not-the-volume", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("devnode"), diagnosis.Probe("iscsi")},
	Explains: []string{"mount-busy", "mount-failed", "format-failed", "fsck-failed", "volume-io-error", "pod-waiting-for-volume"},
	LeadsTo:  []string{"filesystem-type-mismatch", "filesystem-needs-fsck"},
	YieldsTo: []string{"device-renumbered", "device-lun-reused"},
	Doc:      deviceIsNotTheVolumeDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range p.DeviceNodes(v) {
				view, ok := p.Probed(node)
				switch {
				case !ok:
				case v.Longhorn != nil:
					wrongNumber(p, v, view)
				default:
					wrongMounted(p, v, view)
				}
			}
		}
	},
}

// wrongNumber compares the number of /dev/longhorn/<vol> with the disk of the session
// that carries the volume's IQN. Longhorn makes that node itself (mknod), so it can be
// wrong while everything else is right.
func wrongNumber(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	node := view.DeviceNode("/dev/longhorn/" + longhornName(v))
	if node == nil || node.Dev.IsZero() || !attached(v) {
		return
	}
	d, ok := p.DeviceOn(v, view.Name)
	trueDisk := ok && d.Proven && d.Block != nil
	if isV2(v) && !trueDisk {
		return // nothing to compare with: its disks look like any other NVMe or ublk disk
	}
	if trueDisk && (d.Dev == node.Dev || leadsOnto(view, d.Dev, node.Dev)) {
		return
	}
	wrong := view.Device(node.Dev)
	if wrong == nil {
		if trueDisk && view.Dead(node.Dev) && !mounted(view, node.Dev) { // mounted: mount-of-dead-device
			deadNumber(p, v, view, node, d)
		}
		return
	}
	foreign := foreignTo(view, v, wrong)
	if !trueDisk && foreign == "" {
		return
	}
	c := report.Certain
	if !trueDisk && !strings.Contains(foreign, "belongs to") {
		c = report.Likely
		if at := hostMount(view, wrong); at != "" {
			c, foreign = report.Certain, ", it is the node's own disk, which has "+at+" mounted"
		}
	}
	f := p.Find(c, diagnosis.DeviceSubject(view.Name, wrong.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, wrong.Dev)
	own := "The volume's own disk was not found on the node."
	if trueDisk {
		f.Device(view.Name, d.Dev)
		own = fmt.Sprintf("The volume's own disk is %s (%s): %s.", d.Block.Name, d.Dev, d.How)
		f.Fact(diagnosis.FromNode(view.Name, d.Locator, d.How))
	}
	f.Sayf("On node %s the device node %s has the number %s, which is %s (%s %s), not the volume%s. %s "+
		"Whatever is formatted, checked or mounted through this node hits the wrong disk.",
		view.Name, node.Path, wrong.Dev, wrong.Name, strings.TrimSpace(wrong.Vendor), strings.TrimSpace(wrong.Model), foreign, own)
	f.Fact(
		diagnosis.FromNode(view.Name, strings.TrimPrefix(node.Path, "/"), "block "+node.Dev.String()),
		diagnosis.FromNode(view.Name, "sys/class/block/"+wrong.Name+"/device/model", strings.TrimSpace(wrong.Model)),
	)
	if uses := view.InitUses(wrong.Dev); len(uses) > 0 {
		f.Fact(diagnosis.FromNode(view.Name, "proc/1/mountinfo", uses[0].Mount.Raw))
	}
	f.Unless("equal numbers of the device node and of the disk of session " + "iqn…:" + longhornName(v))
	f.Advise(remedy.Words("Stop every workload on the volumes involved first: data may be crossing. Then detach the volume, remove the wrong device node " + node.Path +
		" on node " + view.Name + " if it stays, attach again, and compare the session's disk with the node's number before anything is mounted. Nothing may be formatted or checked before that."))
	p.Report(f)
}

// deadNumber reports a device node that leads to no disk at all while the volume's own
// disk is there.
func deadNumber(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, node *probes.DeviceNode, d snapshot.VolumeDevice) {
	f := p.Find(report.Certain, diagnosis.DeviceSubject(view.Name, node.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, node.Dev)
	f.Device(view.Name, d.Dev)
	f.Sayf("On node %s the device node %s has the number %s, which no disk has. The volume's own disk is %s (%s): %s. Nothing can be mounted through this node.",
		view.Name, node.Path, node.Dev, d.Block.Name, d.Dev, d.How)
	f.Fact(
		diagnosis.FromNode(view.Name, strings.TrimPrefix(node.Path, "/"), "block "+node.Dev.String()),
		diagnosis.FromNode(view.Name, "sys/class/block/*/dev", "no entry "+node.Dev.String()),
		diagnosis.FromNode(view.Name, d.Locator, d.How),
	)
	f.Unless("equal numbers of the device node and of the session's disk")
	f.Advise(remedy.Words("Detach the volume, remove the device node " + node.Path + " on node " + view.Name + " if it stays, and attach again; compare the session's disk with the node's number before anything is mounted."))
	p.Report(f)
}

// attached tells whether Longhorn calls the volume attached: before that its device
// node may be an old one that the attachment replaces.
func attached(v *snapshot.Volume) bool {
	lh := v.LH()
	return lh == nil || lh.Status.State == "" || lh.Status.State == "attached"
}

// hostMount is where the node itself mounts the disk or a partition of it for its own
// use: the root, or what the kubelet's directory lies on.
func hostMount(view *snapshot.NodeView, disk *probes.BlockDevice) string {
	for _, point := range []string{"/", "/boot", "/boot/efi", "/usr", "/var"} {
		for _, m := range view.MountsAt(point) {
			if b := view.Device(m.Dev); b != nil && (b.Name == disk.Name || b.Parent == disk.Name) {
				return point
			}
		}
	}
	return ""
}

// leadsOnto tells whether one device lies on the other (an encrypted or v2 volume).
func leadsOnto(view *snapshot.NodeView, below, above probes.Dev) bool {
	for _, h := range view.HoldersOf(below) {
		if h.Device != nil && h.Device.Dev == above {
			return true
		}
	}
	return false
}

// foreignTo says whose disk a device provably is, when it is not the volume's.
func foreignTo(view *snapshot.NodeView, v *snapshot.Volume, d *probes.BlockDevice) string {
	if s := view.SessionOfDisk(d.Name); s != nil {
		if strings.HasSuffix(s.Target, ":"+strings.ReplaceAll(longhornName(v), "_", ":")) {
			return ""
		}
		return ", it belongs to target " + s.Target
	}
	for _, n := range view.NodesOf(d.Dev) {
		if strings.HasPrefix(n.Path, "/dev/longhorn/") && n.Path != "/dev/longhorn/"+longhornName(v) {
			return ", its number is also that of " + n.Path
		}
	}
	if strings.TrimSpace(d.Vendor) != "IET" || strings.TrimSpace(d.Model) != "VIRTUAL-DISK" {
		if d.DM == nil && d.LoopFile == "" {
			return ", it is no Longhorn disk"
		}
	}
	return ""
}

func longhornName(v *snapshot.Volume) string {
	if v.Longhorn != nil && v.Longhorn.Volume != nil {
		return v.Longhorn.Volume.Name
	}
	return v.Handle
}

func isV2(v *snapshot.Volume) bool {
	return v.Longhorn != nil && v.Longhorn.Volume != nil && v.Longhorn.Volume.DataEngine == "v2"
}
