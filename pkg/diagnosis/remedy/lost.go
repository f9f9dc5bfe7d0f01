package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OneWriter says how what two nodes do to one filesystem ends, before any other step.
func OneWriter(v *snapshot.Volume) string {
	return "Scale the workload of volume " + volume.Name(v) + " to 0 and leave it so until no node mounts the volume: a pod that only starts anew replays the journal under a second writer. Then check the filesystem before anything mounts it."
}

// NodeBack brings a node that does not report back, or gives it up once it is known to be off.
func NodeBack(l holder.Lost) []Step {
	if l.Reports() {
		return []Step{Words("Cure on node " + l.Name + " what its kubelet says (" + l.Complaint() + "): containers of containerd and of CRI-O outlive a restart of it. " +
			"Then the kubelet ends the old pod and lets the volume go by itself. The node runs and writes: force nothing.")}
	}
	if now := l.NowCalled(); now != "" {
		return []Step{
			Words("Give the machine its old name back (its host name, the kubelet's --hostname-override): node " + l.Name + " reports again, ends the old pod, and lets the volume go by itself. It is not off: do not mark it as out of service, and force nothing."),
			Words("Where the new name is to stay: first see on node " + now + " that no process has the volume and nothing mounts it. Only then delete the object of node " + l.Name + "."),
		}
	}
	if l.OnlyWanted() {
		return []Step{Words("Bring node " + l.Name + " back (power, network, kubelet): its kubelet then mounts what its pods need, and they start. Pods that need not run there are made anew on another node once they are evicted; those of a DaemonSet, or with a volume that lies on this node, wait for it.")}
	}
	if len(l.Unplaced) > 0 {
		return []Step{Words("Bring node " + l.Name + " back (power, network, kubelet): the scheduler then places the pod there by itself. The volume can be used on no other node, so that forcing anything off this one helps nobody."),
			Words("If node " + l.Name + " cannot come back: what lies on its own disks comes from a backup or from the application's other copies, in a new volume; a disk of a zone is used by any node that is added in the zone. Delete neither the claim nor the volume before that is settled.")}
	}
	if !l.Keeps() {
		return []Step{
			Words("Bring node " + l.Name + " back (power, network, kubelet): the old pod then ends normally. The volume is kept from no other node meanwhile."),
			Words("If node " + l.Name + " cannot come back: " + l.Fenced() + " Only then " + l.Mark() + "remove the old pod object by force."),
		}
	}
	return []Step{
		Words("Bring node " + l.Name + " back (power, network, kubelet): the old pod then ends normally and the volume moves by itself."),
		Words("If node " + l.Name + " cannot come back: " + l.Fenced() + " Two nodes that write one filesystem destroy it. Only then " + l.Mark() +
			"remove the old pod object by force and wait 6 minutes for the forced detach; removing the attachment by hand is the last step, not the first. " +
			"Verify: the attachment to the old node is gone and the waiting pod's node has the volume."),
	}
}

// DetachFromGone ends an attachment to a node whose object is gone.
func DetachFromGone(node, volume, attachment string) []Step {
	return Sentences(joinAgain(node)+": the detach then finishes by itself.",
		"Otherwise look in the storage backend or the hypervisor. Once you have made sure that volume "+volume+" is attached to no running machine, "+
			"take the attacher's finalizer off VolumeAttachment "+attachment+"; deleting it again, also by force, changes nothing. Never take the finalizer off while the old machine may run.")
}

// ForgetNode makes Longhorn forget a node whose object is gone; reconciler is who has to.
func ForgetNode(node, reconciler string) []Step {
	return Sentences(joinAgain(node)+".",
		"Otherwise restart "+reconciler+", so that it forgets the missing instance manager. Remove Longhorn's object of node "+node+" only when it holds no replica that is still needed.")
}

func joinAgain(node string) string {
	return "If the machine of node " + node + " still exists, let it join again under its name (its kubelet registers only when it starts: restart it)"
}
