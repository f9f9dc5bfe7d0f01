package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// MountAnew lets every pod of the volume on the node go, because only then is the
// filesystem unmounted.
func MountAnew(pl *evidence.Place) []Step {
	last := Words("Find the outage that made the error. The filesystem wants a check later, while nothing mounts it; most drivers make one before the next mount.")
	if n := filesystem.MountedElsewhere(pl); n != "" {
		return []Step{Words("Node " + n + " has the same filesystem mounted, too: two nodes write to one disk. Stop the workloads of both first. A new pod here would replay the journal under the other writer."), last}
	}
	var out []Step
	all := pl.Volume.LiveConsumersOn(pl.Node)
	for _, x := range all {
		if !x.Terminating() {
			step := DeletePod(x.Pod).If(OnlyHere(pl.Volume, pl.Node))
			if len(all) > 1 {
				step = step.Note("It is one of %d on node %s that use the volume; the filesystem is unmounted only when all of them are gone at one time.", len(all), pl.Node)
			} else {
				step = step.Note("No other pod uses the volume on node %s, so the filesystem is unmounted and mounted anew.", pl.Node)
			}
			out = append(out, step)
		}
	}
	return append(out, last)
}

// AttachAnew ends the pods that wait for a volume, so that its attachment is undone and made again.
func AttachAnew(waits []*snapshot.Consumer) []Step {
	var out []Step
	if len(waits) > 0 {
		out = []Step{DeletePod(waits[0].Pod).Note("It waits and mounts nothing; when it is gone the attachment is undone, and made again for the next pod.")}
	}
	return append(out, Words("Look in the storage backend for a detach of this volume that ended after the attach, and leave the attachment's finalizer alone: the attacher must undo what the API says."))
}
