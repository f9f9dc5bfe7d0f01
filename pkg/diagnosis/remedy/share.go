package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
)

// ServerBack says how to get the NFS servers of a node's mounts back, and what is left when
// one never comes back. Whether it is gone for good is no fact of a snapshot, so that part
// stays words.
func ServerBack(pl *evidence.Place, s nfs.Silence) []Step {
	first := s.Servers[0]
	m := first.Mounts[0]
	if first.Local() {
		return tunnelBack(pl, m)
	}
	again := "Bring the server " + m.Addr + " back, or its network. The clients then go on by themselves."
	if m.Volume != nil && m.Volume.IsLonghorn() {
		again = "Bring the server back: Longhorn starts the share-manager of the volume when a pod wants the volume or it is attached in Longhorn's UI. The clients then go on by themselves."
		if now := m.Volume.ShareAddress(); now != "" && now != m.Addr { // longhorn/longhorn#9022
			again = "The share is offered at " + now + " now, and no client finds it at " + m.Addr + " any more: delete the pods on node " + pl.Node + " that mount the old address, so that they mount anew."
		}
	}
	gone := "Only when server " + m.Addr + " is gone for good: unmount exactly " + m.Point + " on node " + pl.Node + ", by force first and lazily if that does not return"
	for _, x := range first.Mounts[1:] {
		gone += ", likewise " + x.Point
	}
	gone += "; what was not written yet is lost."
	if s.Blocked {
		gone += " Restart the kubelet afterwards if it still hangs."
	}
	return []Step{Words(again), Words(gone), Words("Delete the clients of a share before its server, else this comes back. Deleting only the API object of a pod leaves the mount where it is.")}
}

// tunnelBack: a tunnel of a plugin comes back with the plugin, from the state files below
// run/efs, or never for mounts that were made through the pod before.
func tunnelBack(pl *evidence.Place, m nfs.Mount) []Step {
	var out []Step
	if fw := nfs.ForwarderOf(pl.X, pl.Node, m.Volume); fw.Plugin != nil {
		ns, name := fw.Plugin.Namespace, fw.Plugin.Name
		out = append(out, Check("See whether the plugin runs, and what it says of its tunnels.", Kubectl("-n", ns, "get", "pod", name, "-o", "wide"), Kubectl("-n", ns, "logs", name, "--all-containers", "--tail=100")))
	}
	return append(out,
		Words("Its watchdog starts the tunnels again from their state files after the plugin has started: give it a few minutes. If the port stays closed, the mounts that were made through the plugin's former pod cannot be revived: delete the client pods on node "+pl.Node+", so that they mount anew; where they cannot end, drain the node and reboot it."),
		Words("Upgrade a driver that loses its tunnels when its plugin restarts, and drain a node before that."))
}

// StaleGone lets the clients of stale mounts go, and takes a dead mount away that keeps an
// ending pod.
func StaleGone(s nfs.Stale) []Step {
	var out []Step
	for _, pod := range s.Pods() {
		if pod.DeletionTimestamp == nil {
			out = append(out, DeletePod(pod).Note("Its mount answers ESTALE; a new pod mounts the volume anew."))
		}
	}
	for _, m := range s.Mounts {
		if pod := s.Place.X.PodByUID(m.Path.PodUID); m.Path.PodUID != "" && (pod == nil || pod.DeletionTimestamp != nil) {
			out = append(out, UnmountLazy(s.Place.Node, s.Place.Volume, m, false))
		}
	}
	return out
}
