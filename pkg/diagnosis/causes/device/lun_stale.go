package device

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// staleDisk looks, where no map mixes paths, at the disks that stand at the volume's
// target and LUN: one whose identity is not the volume's was left by another LUN of
// that number, or the number was given away under it.
func staleDisk(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) bool {
	d, ok := p.DeviceOn(v, view.Name)
	if !ok || !d.Proven || d.Block == nil {
		return false
	}
	disks := d.Paths
	if len(disks) == 0 {
		disks = []*probes.BlockDevice{d.Block}
	}
	for _, b := range disks {
		why, proof := foreignIdentity(v, b)
		if why == "" || mountedAbove(view, b.Dev) {
			continue // mounted: mount-of-dead-device
		}
		subject := b.Dev
		if m := multipathMapOn(view, b.Dev); m != nil {
			subject = m.Dev
		}
		f := p.Find(report.Certain, diagnosis.DeviceSubject(view.Name, subject)).On(v).Located(view.Name)
		f.Device(view.Name, subject)
		f.Device(view.Name, b.Dev)
		f.Sayf("On node %s the disk %s (%s, LUN %s) at the place of volume %s is another one: %s. Its LUN number was used by two volumes, and the node kept what it knew of the first. Nothing is mounted from it.",
			view.Name, b.Name, b.Dev, disk.OrUnknown(lunOf(b)), volumeName(v), why)
		f.Fact(diagnosis.FromNode(view.Name, "sys/class/block/"+b.Name+"/device/wwid", b.WWID), proof(view))
		f.Fact(diagnosis.FromNode(view.Name, d.Locator, d.How))
		f.Unless("an identity of the disk, as the array tells it, that is the volume's")
		f.Advise(remedy.Words("Stop the pods of this volume and compare the disk's identity with the array. Then remove exactly this stale disk from the node, scan again, and set node.session.scan = manual so that logins stop scanning every LUN. Write nothing to it. A check of the filesystem comes later, while it is unmounted."))
		if subject == b.Dev {
			f.Advise(remedy.UnmapSCSI(view, v, b))
		}
		p.Report(f)
		return true
	}
	return false
}

// foreignIdentity tells why a disk is not the one that it seems to be: it has another
// WWID than the PV states, or the kernel's cached WWID is not that of page 0x83 now.
func foreignIdentity(v *snapshot.Volume, b *probes.BlockDevice) (why string, proof func(*snapshot.NodeView) report.Evidence) {
	id := bareWWID(b.WWID)
	stated := comparable(volumeWWIDs(v), id)
	typed := strings.HasPrefix(b.WWID, "naa.") || strings.HasPrefix(b.WWID, "eui.")
	switch {
	case !typed || len(id) < 16:
		return "", nil
	case b.VPD83 != "" && !strings.Contains(strings.ToLower(b.VPD83), id):
		return "the kernel remembers the identity " + b.WWID + ", the disk itself tells another one (page 0x83)", func(view *snapshot.NodeView) report.Evidence {
			return diagnosis.FromNode(view.Name, "sys/class/block/"+b.Name+"/device/vpd_pg83", b.VPD83)
		}
	case len(stated) > 0 && !contains(stated, id):
		return "its identity is " + b.WWID + ", the volume's is " + strings.Join(stated, ", "), func(*snapshot.NodeView) report.Evidence {
			return diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec", strings.Join(stated, ", "))
		}
	}
	return "", nil
}

const lunsChanged = "LUN assignments on this target have changed"

// lunsMoved takes the kernel's warning about the target of the volume's disk. It does
// not tell which LUN changed, so it is possible, never more.
func lunsMoved(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	d, ok := p.DeviceOn(v, view.Name)
	if !ok || d.Block == nil || d.Block.HCTL == "" || mountedAbove(view, d.Dev) || !p.Suffers(v, "mount-failed", "volume-io-error", "fsck-failed") {
		return
	}
	target := "sd " + d.Block.HCTL[:strings.LastIndexByte(d.Block.HCTL, ':')+1]
	for _, l := range view.Facts.Kernel {
		if !strings.Contains(l.Text, lunsChanged) || !strings.Contains(l.Text, target) || !l.At.After(p.VolumeChanged(v, view.Name)) {
			continue
		}
		f := p.Find(report.Possible, diagnosis.DeviceSubject(view.Name, d.Dev)).On(v).Located(view.Name)
		f.Device(view.Name, d.Dev)
		f.Sayf("The array of volume %s told node %s that its LUN numbers lead to other disks now, and the kernel does not follow that by itself. Whether %s (%s) is still the volume was not seen.",
			volumeName(v), view.Name, d.Block.Name, d.Dev)
		f.Fact(diagnosis.FromNode(view.Name, "@kmsg", l.Text))
		f.NotConfirmed = append(f.NotConfirmed, "the identity of the disk as the array tells it now (page 0x83)")
		f.Unless("an identity of " + d.Block.Name + " that is the volume's")
		f.Advise(remedy.Words("Compare the identity of " + d.Block.Name + " on node " + view.Name + " with the array before anything is mounted, written or removed."))
		p.Report(f)
		return
	}
}
