package remedy

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MultipathFlush removes one unused multipath map, its partition maps first.
func MultipathFlush(node, mapName string, partitionMaps []string, checked string) report.Remedy {
	r := report.Remedy{
		Name: "multipath-flush", Title: titled("Flush the multipath map %s on node %s.%s", mapName, node, afterwards),
		Risk: Reversible, Precondition: checked, Undo: "run multipath on the disk: the map returns by itself while no blacklist forbids it",
		Verify: "/dev/mapper/" + mapName + " is gone and the disk has no holder",
	}
	if len(partitionMaps) > 0 {
		r.Commands = append(r.Commands, OnNode(node, "kpartx", "-d", "/dev/mapper/"+mapName))
	}
	r.Commands = append(r.Commands, OnNode(node, "multipath", "-f", mapName))
	return r
}

// DisableMultipathd stops a daemon that no disk of the node needs.
func DisableMultipathd(node, checked string) report.Remedy {
	return report.Remedy{
		Name: "disable-multipathd", Title: titled("Stop and disable multipathd on node %s. Its maps stay: flush them.%s", node, afterwards),
		Commands: []string{OnNode(node, "systemctl", "disable", "--now", "multipathd.service", "multipathd.socket")},
		Risk:     Disruptive, Precondition: checked,
		Undo:   OnNode(node, "systemctl", "enable", "--now", "multipathd.socket", "multipathd.service"),
		Verify: "the unit is inactive, and new disks get no map",
	}
}

func unmap(node, what, checked, undo string, command ...string) report.Remedy {
	return report.Remedy{
		Name: "unmap-device", Title: titled("%s on node %s.%s", what, node, afterwards),
		Commands: []string{OnNode(node, command...)},
		Risk:     Disruptive, Precondition: checked, Undo: undo,
		Verify: "the device is gone from sys/class/block",
	}
}

// UnmapRBD unmaps an RBD image, never with force.
func UnmapRBD(node, dev, checked string) report.Remedy {
	return unmap(node, "Unmap "+dev, checked, "the driver maps the image again at the next attach", "rbd", "unmap", dev)
}

// UnmapISCSI logs one session out.
func UnmapISCSI(node, iqn, portal, checked string) report.Remedy {
	return unmap(node, "Log out of "+iqn+" at "+portal, checked, "log in again with --login",
		"iscsiadm", "-m", "node", "-T", iqn, "-p", portal, "--logout")
}

// UnmapNVMe disconnects a subsystem.
func UnmapNVMe(node, nqn, checked string) report.Remedy {
	return unmap(node, "Disconnect "+nqn, checked, "the driver connects again at the next attach", "nvme", "disconnect", "-n", nqn)
}

// UnmapLoop detaches a loop device.
func UnmapLoop(node, loop, checked string) report.Remedy {
	return unmap(node, "Detach "+loop, checked, "the driver attaches a loop again when it maps the volume", "losetup", "-d", loop)
}

// UnmapMD stops a RAID array.
func UnmapMD(node, md, checked string) report.Remedy {
	return unmap(node, "Stop the array "+md, checked, "assemble it again: mdadm --assemble "+quote(md), "mdadm", "--stop", md)
}

// UnmapDM removes an orphaned device-mapper map.
func UnmapDM(node, name, checked string) report.Remedy {
	return unmap(node, "Remove the map "+name, checked, "none needed: nothing is below it any more", "dmsetup", "remove", name)
}

// UnmapSCSI deletes a stale SCSI path from the kernel.
func UnmapSCSI(node, disk, checked string) report.Remedy {
	return unmap(node, "Delete the stale SCSI disk "+disk, checked, "rescan the SCSI host",
		"sh", "-c", fmt.Sprintf("echo 1 > %s", quote("/sys/block/"+disk+"/device/delete")))
}
