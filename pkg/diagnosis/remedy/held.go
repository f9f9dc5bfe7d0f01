package remedy

import (
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
)

// heldEnds is how a node lets go what no process holds, or that of a pod which is gone.
var heldEnds = map[string]string{
	"target":   "Remove this backstore on node {node} through whoever configured it (targetcli, nvmetcli, a storage agent), after its initiators have logged out.",
	"swap":     "Switch this swap area off on node {node} (swapoff of exactly {path}) and remove it from /etc/fstab and from units. What lay on the volume before the swap area was made is lost.",
	"mount":    "Find out who mounted {path} (fstab, a unit, a person) and what uses it; then unmount exactly that path on node {node} and remove the entry.",
	"child":    "Find out who mounted {path} (fstab, a unit, a person) and what uses it; then unmount exactly that path on node {node} and remove the entry.",
	"loop":     "Find out who made {loop} on node {node} and whether what is on it is mounted or in use; let that program end it (unmount first, then losetup -d of exactly this device). The kubelet then unmounts the volume at its next attempt.",
	"stranger": "Make sure that the container of process {pid} on node {node} may end, then stop it through the container runtime (crictl stop) or restart the kubelet there, which ends containers of pods that do not exist.",
}

// EndHeld are the steps after which a node, or a process of it, does not hold a device any more.
func EndHeld(node string, h disk.Held) []Step {
	pid := ""
	if h.Holder != nil {
		pid = strconv.Itoa(h.Holder.Process.PID)
	}
	if end, known := heldEnds[h.Kind]; known {
		return []Step{Words(strings.NewReplacer("{node}", node, "{path}", h.Path, "{loop}", h.Entry, "{pid}", pid).Replace(end))}
	}
	if h.Holder == nil {
		return nil
	}
	end := EndHolder(node, h.Holder.Who)
	if h.Kind == "peer" && strings.HasPrefix(h.Holder.Process.Comm, "multipath") {
		// multipathd opens what its configuration does not exclude again as soon as it is started.
		return []Step{
			Words("Exclude the devices of DRBD from multipath on node "+node+", and on every other node that may have the volume: with the blacklist below, then multipathd reconfigure. The waiting pod is tried again by itself.").
				In("/etc/multipath.conf", "blacklist {", `    devnode "^drbd[0-9]"`, "}"),
			end.Note("If it keeps the device after that."),
		}
	}
	return []Step{end}
}
