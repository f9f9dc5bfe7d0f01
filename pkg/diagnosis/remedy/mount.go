package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/mounts"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
)

// FilesSaved are the steps after the files were saved that a pod wrote beside its volume. What a new pod ends in as
// well is mended first; own is the mount of the driver's plugin, if its table was read.
func FilesSaved(pl *evidence.Place, m mounts.Missing, cover string, own mounts.PluginTable, read bool) []Step {
	anew := Words("Once the files are saved, delete the pod, so that the volume is staged and published anew; then merge the saved data.")
	switch {
	case m.Covered():
		return []Step{Words("Find out who mounted " + cover + " there. Once the files are saved and the pod is stopped, unmount it on the node, once and without -l (the volume lies below, at the same path); then let the pod run again and merge the saved data.")}
	case m.Beneath():
		return []Step{Words("Look whether the container runtime has a mount namespace of its own on the node (MountFlags or PrivateMounts in its unit): take that out and restart it first, for a new pod ends the same way."), anew}
	case m.Pod.DeletionTimestamp != nil:
		return []Step{Words("Once the files are saved, move them out of the directory, so that the kubelet can finish with the pod; then merge them into the volume.")}
	case read && own.Path != "":
		return []Step{Words("First give " + pods.Owned(pl.X, own.Pod) + " the node's " + own.Path + " with mountPropagation: Bidirectional, as the driver's current manifest does: until what it mounts reaches the node, a new pod ends the same way."), anew}
	case read && own.Mount != nil:
		return []Step{Words("First find out why what the plugin mounts does not reach the node, for a new pod ends the same way: the node's mount above that path has to be shared when the plugin's container is made."), anew}
	case read, pl.Volume.CSIName() == "": // the kubelet mounts it itself
		return []Step{anew}
	}
	return []Step{Words("Before that look whether the plugin's own mount table has the volume at exactly this path: then a new pod ends the same way, and the directory or the propagation of the plugin is what has to be corrected."), anew}
}

// OrphansGo are the steps for mounts at paths of pods that no longer exist.
func OrphansGo(node string) []Step {
	return Sentences(
		"Restart the kubelet of node "+node+" or the driver's plugin pod there, and wait two minutes: a newer kubelet finds the volumes again and unmounts them.",
		"If the mounts remain, unmount exactly these paths plainly, subPaths first; that the UIDs are unknown, that no process belongs to them and that no file is open was checked. Remove no pod directory as a whole: what is mounted below it would be deleted with it.")
}
