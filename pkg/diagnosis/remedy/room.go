package remedy

import (
	sentence "github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/slots"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// VolumeRoom gives the filesystem of a volume room again, as far as its class lets it grow.
func VolumeRoom(v *snapshot.Volume) []Step {
	grow := "Give the claim more room: raise spec.resources.requests.storage (more inodes come with it)."
	if c := v.Class; c != nil && (c.AllowVolumeExpansion == nil || !*c.AllowVolumeExpansion) {
		grow = "The class " + c.Name + " does not allow expansion (allowVolumeExpansion): a larger volume means a new claim and a copy, or a class that allows it."
	}
	return []Step{Words("Delete what the application can spare, from inside its pod."), Words(grow)}
}

// PoolRoom gives a thin pool blocks again; the kernel goes on by itself then.
func PoolRoom(node string) []Step {
	return []Step{
		Check("See how full the pool and its metadata are, and who fills it (volumes, snapshots).", OnNode(node, "lvs", "-a", "-o", "lv_name,pool_lv,lv_size,data_percent,metadata_percent")),
		Words("Give the pool room: extend its data or its metadata, whichever is full, or delete snapshots and volumes that may go by the driver's own means. Until then start no pod anew on its volumes: what is written fails again."),
		Words("A filesystem that met the error stays closed until it is mounted anew; check it before that."),
	}
}

// NodeRoom makes room on the disk of a node.
func NodeRoom(node string) []Step {
	return []Step{
		Check("See what fills the disk of node "+node+", bytes and inodes, without entering the volumes that are mounted below it. Where no pod can start any more, run what stands behind -- in a shell of the node.", OnNode(node, "du", "-x", "--inodes", "-d", "3", "/var/lib")),
		Words("Make room there: old images and logs, containers' scratch directories and emptyDir volumes of pods that may go. Never delete anything below pods/*/volumes: volumes are mounted there."),
	}
}

// IdleSlots is where full nodes have volumes attached that no pod uses there: remarks, because why they
// are attached is another question.
func IdleSlots(x *snapshot.Index, full ...slots.Taken) []string {
	var out []string
	for _, t := range full {
		if names := t.Idle(x); len(names) > 0 {
			out = append(out, titled("%d of the volumes attached to node %s are used by no pod there (%s): look why they are still attached, their slots would be free.", len(names), t.Node, sentence.List(names, 5)))
		}
	}
	return out
}
