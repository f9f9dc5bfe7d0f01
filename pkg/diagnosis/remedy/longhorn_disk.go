package remedy

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DiskBack lets Longhorn use a disk again.
func DiskBack(o longhorn.OnDisk, fault longhorn.Fault) []Step {
	return Sentences(restore(o, fault), "Delete no replica while this may be the last copy, and look for needed replicas before the disk or Longhorn's node object is taken away.")
}

// restore is what brings the disk back, by what is wrong with it.
func restore(o longhorn.OnDisk, fault longhorn.Fault) string {
	at := o.Disk.Path + " on node " + o.Node.Name
	switch {
	case fault.Kind == longhorn.Unmounted && fault.Device != "":
		return "Mount the filesystem of " + fault.Device + " at " + at + " again; Longhorn finds its disk within a minute. An entry of fstab with nofail does not say when that failed: look why."
	case fault.Kind == longhorn.Unmounted:
		return "Mount the right filesystem at " + at + " again; Longhorn finds its disk within a minute."
	case fault.Kind == longhorn.ReadOnly:
		return "Find out why the filesystem at " + at + " became read-only, check it while nothing uses it, and mount it read-write again. Longhorn then salvages by itself or in the UI."
	case fault.Kind == longhorn.OtherUUID && fault.Emptied:
		return "The disk at " + at + " was wiped or replaced (no replica directory was seen on it): take the disk entry out of Longhorn's node, add it again, and let the replicas be rebuilt from the others."
	case fault.Kind == longhorn.OtherUUID:
		return "The replica directories are still on the disk at " + at + ": write the recorded UUID back into its longhorn-disk.cfg."
	}
	if o.Disk.Type == "block" {
		return "Read what the v2 instance-manager of node " + o.Node.Name + " says of the disk " + o.Disk.Path + ": one that was not closed cleanly is read whole before it is Ready, which takes minutes; else look whether the node still has it."
	}
	return "Bring the right disk back at " + at + ": mount it, or find out why its filesystem became read-only, check it while nothing uses it, and mount it read-write again. Longhorn then salvages by itself or in the UI."
}

// DirectoryBack lets Longhorn find the directory of a replica whose disk its node does not have any more.
func DirectoryBack(r *snapshot.LHReplica) []Step {
	return Sentences(
		"Look on node "+r.NodeID+" for the replica's directory "+longhorn.OrNone(r.DataDirectory)+". Where it still lies under a disk path, restore the old UUID in longhorn-disk.cfg of that path and add the disk again; else let the replicas be rebuilt from the others.",
		"Delete no replica while this may be the last copy.",
	)
}
