package remedy

import (
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const holderGone = "the device is in no mount namespace of the holder any more, and the driver's next attempt succeeds"

// Holder is a process that keeps a device, and whom it belongs to.
type Holder struct {
	Pod  *corev1.Pod // nil: it is no pod's
	Unit string      // systemd unit, or empty
	PID  int
	Comm string
}

// EndHolder makes a holder let a device go, through its owner: the pod, the service,
// or whoever started the process.
func EndHolder(node string, h Holder, checked string) report.Remedy {
	switch {
	case h.Pod != nil:
		return RestartHolderPod(h.Pod, checked)
	case servesAll(h.Unit):
		return Words("Unit " + h.Unit + " on node " + node + " serves every pod there: drain the node, then restart the unit.")
	case strings.HasSuffix(h.Unit, ".service") && !strings.HasPrefix(h.Unit, "user@"):
		return RestartHolderUnit(node, h.Unit, checked)
	}
	return RestartHolderProcess(node, h.PID, h.Comm, checked)
}

// servesAll names units whose restart touches every pod of the node.
func servesAll(unit string) bool {
	for _, u := range []string{"kubelet", "containerd", "docker", "crio", "k3s", "rke2", "k0s", "snap.microk8s"} {
		if strings.HasPrefix(unit, u) {
			return true
		}
	}
	return false
}

// RestartHolderPod makes a foreign pod let a device go.
func RestartHolderPod(pod *corev1.Pod, checked string) report.Remedy {
	if pod.Annotations["kubernetes.io/config.mirror"] != "" {
		return Words(titled("Pod %s/%s holds the device. It is a static pod: restart it on node %s (move its manifest away and back), deleting it here ends nothing.", pod.Namespace, pod.Name, pod.Spec.NodeName))
	}
	if metav1.GetControllerOf(pod) == nil {
		return report.Remedy{
			Name: "restart-holder", Title: titled("Save the manifest of pod %s/%s, which holds the device, delete the pod and make it anew: no controller does.", pod.Namespace, pod.Name),
			Commands: []string{Kubectl("-n", pod.Namespace, "get", "pod", pod.Name, "-o", "yaml"), Kubectl("-n", pod.Namespace, "delete", "pod", pod.Name)},
			Risk:     Disruptive, Precondition: checked, Verify: holderGone,
		}
	}
	return report.Remedy{
		Name: "restart-holder", Title: titled("Delete pod %s/%s, which holds the device; its controller makes a new one.", pod.Namespace, pod.Name),
		Commands: []string{Kubectl("-n", pod.Namespace, "delete", "pod", pod.Name)},
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
