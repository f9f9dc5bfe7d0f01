package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/lvm"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// MultipathFlush removes one unused multipath map, its partition maps first.
func MultipathFlush(view *snapshot.NodeView, m *probes.BlockDevice) Step {
	node, name := view.Name, m.DM.Name
	var script []string
	partitions := multipath.PartitionNames(view, m)
	if len(partitions) > 0 {
		script = append(script, Quote("kpartx", "-d", "/dev/mapper/"+within(name)))
	}
	s := Step{
		Name: "multipath-flush", Title: titled("Flush the multipath map %s on node %s.", name, node),
		Commands: []Command{guarded(node, disk.Marks(view, m), append(script, Quote("multipath", "-f", operand(name)))...)},
		Risk:     Reversible, Guards: append(free(node, m, partitions...), Known(node, m)),
		Verify: []Command{OnNode(node, "ls", "-l", "/dev/mapper/")},
	}
	for _, disk := range m.Slaves {
		s.Undo = append(s.Undo, OnNode(node, "multipath", "/dev/"+within(disk)))
	}
	return s
}

// DisableMultipathd stops a daemon that no disk of the node needs.
func DisableMultipathd(node string) Step {
	return Step{
		Name: "disable-multipathd", Extra: true, Title: titled("Stop and disable multipathd on node %s, only where no SAN storage will need it.", node),
		Commands: []Command{OnNode(node, "systemctl", "disable", "--now", "multipathd.service", "multipathd.socket")},
		Risk:     Disruptive,
		Guards: []Guard{
			{
				Question: "no-maps", Fact: "multipathd has no map on node " + node,
				Ask:  func(x *snapshot.Index) evidence.Answer { return multipath.NoMaps(x, node) },
				Look: []Command{OnNode(node, "multipath", "-ll")}, On: Target{Node: node},
			},
			{
				Question: "no-san", Fact: "no storage of node " + node + " wants several paths to one disk",
				Ask:  func(x *snapshot.Index) evidence.Answer { return multipath.Unneeded(x, node) },
				Look: []Command{OnNode(node, "iscsiadm", "-m", "session")}, On: Target{Node: node},
			},
		},
		Undo:   []Command{OnNode(node, "systemctl", "enable", "--now", "multipathd.socket", "multipathd.service")},
		Verify: []Command{OnNode(node, "systemctl", "is-active", "multipathd.service")},
	}
}

// unmap is what the steps that take a device of a node away have in common: nothing
// uses it, no pod of its volume is on the node, and it is still the one that was seen.
func unmap(view *snapshot.NodeView, v *snapshot.Volume, b *probes.BlockDevice, what, act string, besides ...string) Step {
	node := view.Name
	return Step{
		Name: "unmap-device", Title: titled("%s on node %s.", what, node),
		Commands: []Command{guarded(node, disk.Marks(view, b), act)},
		Risk:     Disruptive, Guards: append(free(node, b, besides...), NoneWorks(v, node), Known(node, b)),
		Verify: []Command{OnNode(node, "ls", "/sys/class/block/")},
	}
}

// UnmapRBD unmaps an RBD image, never with force. The driver maps it again at the
// next attach.
func UnmapRBD(view *snapshot.NodeView, v *snapshot.Volume, b *probes.BlockDevice) Step {
	return unmap(view, v, b, "Unmap /dev/"+b.Name, Quote("rbd", "unmap", "/dev/"+within(b.Name))).If(NoneUses(v, view.Name))
}

// UnmapLoop detaches a loop device whose pod is gone. The kubelet attaches another one
// when it maps the volume.
func UnmapLoop(view *snapshot.NodeView, v *snapshot.Volume, b *probes.BlockDevice, podUID string) Step {
	return unmap(view, v, b, "Detach /dev/"+b.Name, Quote("losetup", "-d", "/dev/"+within(b.Name))).If(Gone(view.Name, podUID))
}

// UnmapMD stops a RAID array that the node assembled from a volume.
func UnmapMD(view *snapshot.NodeView, v *snapshot.Volume, b *probes.BlockDevice) Step {
	s := unmap(view, v, b, "Stop the array /dev/"+b.Name, Quote("mdadm", "--stop", "/dev/"+within(b.Name)))
	words := []string{"mdadm", "--assemble", "/dev/" + within(b.Name)}
	for _, d := range b.Slaves {
		words = append(words, "/dev/"+within(d))
	}
	s.Undo = []Command{OnNode(view.Name, words...)}
	return s
}

// unclaimed is the guard of a disk that the kernel takes away while it is in use, too.
func unclaimed(node string, b *probes.BlockDevice) Guard {
	return Guard{
		Question: "claimable", Fact: titled("an exclusive open of %s on node %s succeeds, or what lies on it was seen", b.Name, node),
		Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Unclaimed(x, node, b.Dev) },
		Look: []Command{OnNode(node, "lsblk", "/dev/"+b.Name)}, On: Target{Node: node, Device: b.Name},
	}
}

// UnmapSCSI deletes a stale SCSI disk from the kernel: one whose identity is not the
// volume's. It may still be a path of a map that nothing uses; the map loses it.
func UnmapSCSI(view *snapshot.NodeView, v *snapshot.Volume, b *probes.BlockDevice, maps ...string) Step {
	node := view.Name
	act := idle(view, b, maps...) + " && echo 1 > " + quote("/sys/class/block/"+b.Name+"/device/delete")
	s := unmap(view, v, b, "Delete the stale SCSI disk "+b.Name, act, maps...).If(Guard{
		Question: "stranger", Fact: titled("the identity of %s on node %s is not that of volume %s", b.Name, node, nameOf(v)),
		Ask:  func(x *snapshot.Index) evidence.Answer { return disk.Stranger(x, v, node, b.Dev) },
		Look: []Command{OnNode(node, "cat", "/sys/class/block/"+b.Name+"/device/wwid")}, On: Target{Node: node, Device: b.Name, Volume: v},
	})
	s = s.If(unclaimed(node, b))
	if host, _, ok := strings.Cut(b.HCTL, ":"); ok {
		s.Undo = []Command{OnNode(node, "sh", "-c", "echo '- - -' > "+quote("/sys/class/scsi_host/host"+host+"/scan"))}
	}
	return s
}

// tablesRead is false where there is no grep, or no mount table for it: what is not found then proves nothing.
const tablesRead = "grep -qs . /proc/1/mountinfo && "

// idle looks again whether a device or a partition of it is mounted: the kernel deletes a disk that is in use, too.
func idle(view *snapshot.NodeView, b *probes.BlockDevice, maps ...string) string {
	look := tablesRead + "! grep -qsF"
	all := append([]*probes.BlockDevice{b}, view.PartitionsOf(b.Dev)...)
	for _, name := range maps {
		if m := view.ByName(name); m != nil {
			all = append(append(all, m), view.PartitionsOf(m.Dev)...)
		}
	}
	for _, d := range all {
		look += " -e ' " + d.Dev.String() + " '"
	}
	return look + " /proc/[0-9]*/mountinfo"
}

// idleTarget looks again whether something lies on a disk of a target or is mounted from one: iscsid logs out of
// those as well. The disks of a session lie below it (drivers/scsi/scsi_transport_iscsi.c).
func idleTarget(target string) string {
	return tablesRead + "! for s in $(grep -lxF " + quote(operand(target)) + ` /sys/class/iscsi_session/session*/targetname); do for d in "${s%targetname}"device/target*/*/block/*; do ` +
		`ls "$d"/holders; cat "$d"/dev "$d"/*/dev | while read -r n; do grep -s " $n " /proc/[0-9]*/mountinfo; done; done; done 2>/dev/null | grep -q .`
}

// LogoutISCSI ends the sessions to a target. Every disk of the target goes with them,
// so every one has to be free, and a disk that is used after all loses its writes.
func LogoutISCSI(node string, v *snapshot.Volume, target, portal string) Step {
	return Step{
		Name: "unmap-device", Title: titled("Log out of %s at %s on node %s: every disk of that target goes.", target, portal, node),
		Commands: []Command{guarded(node, nil, idleTarget(target), Quote("iscsiadm", "-m", "node", "-T", operand(target), "-p", operand(portal), "--logout"))},
		Risk:     DataLoss,
		Guards: []Guard{
			{
				Question: "session-free", Fact: titled("every disk of target %s on node %s is free, and no pod there uses a volume on one of them", target, node),
				Ask:  func(x *snapshot.Index) evidence.Answer { return iscsi.Free(x, node, target) },
				Look: []Command{OnNode(node, "iscsiadm", "-m", "session", "-P", "3"), OnNode(node, "lsblk")}, On: Target{Node: node, Volume: v},
			},
			NoneUses(v, node), Everywhere(v),
		},
		Undo:   []Command{OnNode(node, "iscsiadm", "-m", "node", "-T", operand(target), "-p", operand(portal), "--login")},
		Verify: []Command{OnNode(node, "iscsiadm", "-m", "session")},
	}
}

// VgchangeDeactivate takes the logical volumes down that the node activated inside a
// volume.
func VgchangeDeactivate(view *snapshot.NodeView, v *snapshot.Volume, vg string, lv, base *probes.BlockDevice) Step {
	node := view.Name
	return Step{
		Name: "vgchange-deactivate", Title: titled("Deactivate volume group %s on node %s.", vg, node),
		Commands: []Command{guarded(node, disk.Marks(view, lv), Quote("vgchange", "-an", operand(vg)))},
		Risk:     Disruptive,
		Guards: []Guard{
			{
				Question: "group-free", Fact: titled("nothing mounts, opens or lies on a logical volume of %s on node %s", vg, node),
				Ask:  func(x *snapshot.Index) evidence.Answer { return lvm.Free(x, node, lv) },
				Look: []Command{OnNode(node, "lsblk"), OnNode(node, "lvs", "-o", "lv_name,lv_device_open,devices", operand(vg))}, On: Target{Node: node, Device: lv.Name},
			},
			{
				Question: "group-inside", Fact: titled("volume group %s lies on %s alone, and no other group has its name", vg, base.Name),
				Ask:  func(x *snapshot.Index) evidence.Answer { return lvm.Inside(x, node, lv, base.Dev) },
				Look: []Command{OnNode(node, "pvs")}, On: Target{Node: node, Device: lv.Name},
			},
			NoneWorks(v, node), Known(node, lv),
		},
		Undo:   []Command{OnNode(node, "vgchange", "-ay", operand(vg))},
		Verify: []Command{OnNode(node, "ls", "/sys/class/block/"+base.Name+"/holders/")},
	}
}

// CryptClose removes a mapper that nothing uses. The driver opens it again when it
// stages the volume.
func CryptClose(view *snapshot.NodeView, m *probes.BlockDevice) Step {
	node := view.Name
	return Step{
		Name: "crypt-close", Title: titled("Close the mapper %s on node %s.", m.DM.Name, node),
		Commands: []Command{guarded(node, disk.Marks(view, m), Quote("cryptsetup", "close", operand(m.DM.Name)))},
		Risk:     Disruptive, Guards: append(free(node, m), Known(node, m)),
		Verify: []Command{OnNode(node, "ls", "-l", "/dev/mapper/")},
	}
}

// AnotherDisk ends the use of a disk that is not the volume's: how tells in which way it is another one, path is
// its device node.
func AnotherDisk(how, node, path string) []Step {
	const first = "Stop the workloads of both volumes before anything else: "
	again := "remove the wrong device node " + path + " on node " + node + " if it stays, attach again, and compare the session's disk with the node's number before anything is mounted."
	switch how {
	case "crossed":
		return Sentences(first + "two nodes write to one filesystem. Ask the storage which of them the disk belongs to, and check the filesystem before it is mounted again.")
	case "twice":
		return Sentences(first + "they write to one filesystem. Ask the storage which of them the disk belongs to; the other one has to be detached and attached anew. Format and repair nothing before that.")
	case "mounted", "stranger":
		return Sentences(first + "data is crossing. Compare identities (serial, WWID, image) with the storage before anything is mounted again.")
	case "dead":
		return Sentences("Detach the volume, " + strings.Replace(again, "wrong ", "", 1))
	}
	return Sentences("Stop every workload on the volumes involved first: data may be crossing. Then detach the volume, " + again + " Nothing may be formatted or checked before that.")
}
