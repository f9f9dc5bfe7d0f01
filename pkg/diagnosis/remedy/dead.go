package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// EndDead makes the pods let go of the mounts of a device that is gone; a lazy unmount only
// where no pod runs on the path and the disk is nobody else's.
func EndDead(x *snapshot.Index, node string, d mounts.DeadMount) []Step {
	if d.Reused {
		return Sentences("The number belongs to a living disk of another volume. Stop the pods of both volumes, then unmount exactly these paths plainly (not lazily), and have both filesystems checked before they are used again.")
	}
	var out []Step
	if d.Homebound() {
		out = Sentences("The disk is one of node " + node + " alone, so that no driver brings it back: until the node has it again, a pod that is made anew cannot start. See whether it is there under another name or number, or can come back (slot, cable, controller; the kernel's log has when and how it went); else the data are to be restored elsewhere.")
	}
	pods := d.Pods(x)
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			out = append(out, LetGo(x, pod).Note("Its mounts are of device %s; all pods of the volume on node %s must go, so that it is unstaged.", d.Dev, node))
		}
	}
	for _, m := range d.Mounts {
		pod := x.PodByUID(m.Path.PodUID)
		switch {
		case len(pods) > 0 && m.Path.PodUID == "", pod != nil && pod.DeletionTimestamp == nil:
			// The pods that use the mount go first.
		case d.Alive:
			out = append(out, Words("Once no pod runs on it, unmount "+m.Mount.Point+" plainly on node "+node+": its disk still answers."))
		default:
			out = append(out, UnmountLazy(node, d.Volume, m, false))
		}
	}
	return append(out, Words("Never format or repair the volume's present disk while a pod still runs on the old mount, and delete nothing below these paths. Have the filesystem checked before its next use when writes were lost, and find out why the device went away."))
}
