package remedy

import (
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const holderGone = "the device is in no mount namespace of the holder any more, and the driver's next attempt succeeds"

// RestartHolderPod makes a foreign pod let a device go.
func RestartHolderPod(pod *corev1.Pod, checked string) report.Remedy {
	return report.Remedy{
		Name: "restart-holder", Title: titled("Delete pod %s/%s, which holds the device; its controller makes a new one.", pod.Namespace, pod.Name),
		Commands: []string{kubectl("-n", pod.Namespace, "delete", "pod", pod.Name)},
		Risk:     Disruptive, Precondition: checked, Verify: holderGone,
	}
}

// RestartHolderUnit restarts the systemd unit that holds a device.
func RestartHolderUnit(node, unit, checked string) report.Remedy {
	return report.Remedy{
		Name: "restart-holder", Title: titled("Restart unit %s on node %s, which holds the device.%s", unit, node, afterwards),
		Commands: []string{OnNode(node, "systemctl", "restart", unit)},
		Risk:     Disruptive, Precondition: checked, Verify: holderGone,
	}
}

// RestartHolderProcess names a process that holds a device and belongs to no pod
// and no unit. How it is ended is its owner's business.
func RestartHolderProcess(node string, pid int, comm, checked string) report.Remedy {
	return report.Remedy{
		Name: "restart-holder", Title: titled("Let the owner of process %d (%s) on node %s end or restart it: it holds the device.%s", pid, comm, node, afterwards),
		Commands: []string{OnNode(node, "ps", "-o", "pid,ppid,user,lstart,args", "-p", strconv.Itoa(pid))},
		Risk:     Disruptive, Precondition: checked, Verify: holderGone,
	}
}

// UnmountLazy takes a mount away whose device or server is gone for good.
func UnmountLazy(node, point string, nfs bool, checked string) report.Remedy {
	r := report.Remedy{
		Name: "unmount-lazy", Title: titled("Unmount %s on node %s lazily.%s", point, node, afterwards),
		Commands: []string{OnNode(node, "umount", "-l", point)},
		Risk:     DataLoss, Precondition: checked,
		Undo:   "none: what a process still holds open stays behind, invisible; unwritten data is lost",
		Verify: "the path is no mount point any more: " + OnNode(node, "grep", "-F", point, "/proc/1/mountinfo"),
	}
	if nfs {
		r.Commands = append([]string{OnNode(node, "umount", "-f", point)}, r.Commands...)
	}
	return r
}

// VgchangeDeactivate takes the logical volumes of a foreign volume group down.
func VgchangeDeactivate(node, vg, checked string) report.Remedy {
	return report.Remedy{
		Name: "vgchange-deactivate", Title: titled("Deactivate volume group %s on node %s.%s", vg, node, afterwards),
		Commands: []string{OnNode(node, "vgchange", "-an", vg)},
		Risk:     Disruptive, Precondition: checked, Undo: OnNode(node, "vgchange", "-ay", vg),
		Verify: "the volume's device has no holder any more",
	}
}

// CryptClose removes a mapper that nothing uses.
func CryptClose(node, name, checked string) report.Remedy {
	return report.Remedy{
		Name: "crypt-close", Title: titled("Close the mapper %s on node %s.%s", name, node, afterwards),
		Commands: []string{OnNode(node, "cryptsetup", "close", name)},
		Risk:     Disruptive, Precondition: checked, Undo: "none needed: the driver opens it again when it stages the volume",
		Verify: "/dev/mapper/" + name + " is gone",
	}
}

// Fsck checks, reads only, and then repairs a filesystem that nobody mounts.
func Fsck(node, dev, fstype, checked string) report.Remedy {
	look, repair := OnNode(node, "e2fsck", "-fn", dev), OnNode(node, "e2fsck", "-f", dev)
	if fstype == "xfs" {
		look, repair = OnNode(node, "xfs_repair", "-n", dev), OnNode(node, "xfs_repair", dev)
	}
	return report.Remedy{
		Name: "fsck", Title: titled("With the workload scaled to 0 and a snapshot taken: look at %s on node %s first, then repair it.%s", dev, node, afterwards),
		Commands: []string{look, repair},
		Risk:     DataLoss, Precondition: checked, Undo: "restore the snapshot",
		Verify: "the read-only check ends with exit status 0, and the volume mounts",
	}
}

// XFSNewUUID gives a copy of an XFS filesystem an identity of its own.
func XFSNewUUID(node, dev, oldUUID, checked string) report.Remedy {
	r := report.Remedy{
		Name: "xfs-new-uuid", Title: titled("Give the copy on %s of node %s a new UUID.%s", dev, node, afterwards),
		Commands: []string{OnNode(node, "xfs_admin", "-U", "generate", dev)},
		Risk:     DataLoss, Precondition: checked, Verify: "both filesystems mount on one node",
	}
	if oldUUID != "" {
		r.Undo = OnNode(node, "xfs_admin", "-U", oldUUID, dev)
	}
	return r
}

// DeleteOrphanDirectory removes the empty leftovers of a pod that is gone. It
// uses rmdir only: a mount or a file below makes it fail instead of being lost.
func DeleteOrphanDirectory(node, root, podUID, pv, checked string) report.Remedy {
	dir := path.Join(root, "pods", podUID, "volumes", "kubernetes.io~csi", pv)
	return report.Remedy{
		Name: "delete-orphan-directory", Title: titled("Remove the empty directory of pod %s for volume %s on node %s.%s", podUID, pv, node, afterwards),
		Commands: []string{
			OnNode(node, "rm", "-f", dir+"/vol_data.json"),
			OnNode(node, "rmdir", dir+"/mount", dir),
		},
		Risk: DataLoss, Precondition: checked, Undo: "none",
		Verify: "the kubelet stops logging the orphaned pod " + podUID,
	}
}
