package remedy

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// VolumeRoom gives the filesystem of a volume room again, as far as its class lets it grow.
func VolumeRoom(v *snapshot.Volume) []Step {
	grow := "Give the claim more room: raise spec.resources.requests.storage (more inodes come with it)."
	if c := v.Class; c != nil && (c.AllowVolumeExpansion == nil || !*c.AllowVolumeExpansion) {
		grow = "The class " + c.Name + " does not allow expansion (allowVolumeExpansion): a larger volume means a new claim and a copy, or a class that allows it."
	}
	return []Step{Words("Delete what the application can spare, from inside its pod."), Words(grow)}
}

// NodeRoom makes room on the disk of a node.
func NodeRoom(node string) []Step {
	return []Step{
		Check("See what fills the disk of node "+node+", bytes and inodes, without entering the volumes that are mounted below it.", OnNode(node, "du", "-x", "--inodes", "-d", "3", "/var/lib")),
		Words("Make room there: old images and logs, containers' scratch directories and emptyDir volumes of pods that may go. Never delete anything below pods/*/volumes: volumes are mounted there."),
	}
}
