package remedy

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"

// larger are the ways to let each part of a volume take its new size.
var larger = map[disk.Behind]string{
	disk.Unread:     "Read what the driver's node plugin says, cure that, and kubelet tries again. A driver that cannot grow a mounted volume does so when it is unmounted and mounted again: replace the pod at a quiet time.",
	disk.Device:     "Let the node read the size of the disk again (1 into sys/class/block/DISK/device/rescan, iscsiadm -m session -R, nvme ns-rescan: they only read), each path of a multipath map, and only then let the map take it (multipathd resize map NAME); then kubelet tries again; where the claim counts as grown already, let a new pod mount the volume.",
	disk.Joined:     "The driver's node plugin enlarges it, not the kernel: read what that plugin says (no free extents, a pool that is full, a lock), cure it, and the step is tried again.",
	disk.Map:        "Let the mapping take the new size of its disks (multipathd resize map NAME; for a LUKS mapping cryptsetup resize, which asks for its passphrase), then kubelet tries again. Where the driver's plugin runs a multipathd of its own, that one must see udev's data of the host.",
	disk.Filesystem: "Disk and mapping have the new size, only the file system was not grown: cure what the tool says in the text of kubelet or in the kernel log; kubelet tries again. Else replace the pod at a quiet time, so that the volume is mounted anew.",
}

// Grow lets a volume that has grown in the backend grow on a node, by the part that is behind.
func Grow(node string, part disk.Behind) []Step {
	return []Step{
		Check("Compare the sizes of disk, mapper and file system on the node.", OnNode(node, "lsblk", "-b", "-o", "NAME,SIZE,MOUNTPOINT")),
		Words(larger[part]),
		Words("Never run a resize tool on a device that is mounted elsewhere, never make a file system smaller, and do not edit status.capacity of the claim."),
	}
}
