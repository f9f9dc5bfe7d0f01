package remedy

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"

// drbdHelps are what lets DRBD open or write a resource again, by what it lacks.
var drbdHelps = map[string]string{
	"primary":   "With nothing that holds it there, drbdadm secondary of this resource on that node lets it go (DRBD refuses while anything has it open); the mount goes on by itself.",
	"split":     "Decide with the owner of the data which side survives. Only then, with a snapshot of the volume below it made first, the other side's writes since the split can be given up.",
	"apart":     "Decide with the owner of the data which side survives. Only then, with a snapshot of the volume below it made first, the other side's writes since the split can be given up.",
	"declined":  "What the peer says is what to settle, on that node. What has the device open there (drbdsetup status shows open:yes, the peer's kernel log names the process: Held open by) lets it go first, a scanner of the host (multipathd, a monitoring agent) by excluding DRBD's devices from what it looks at; the mount goes on by itself. Do not force a role.",
	"quorum":    "Bring the missing peers or the network between them back: DRBD's own ports (7000 and up), and the NetworkPolicy of the satellites. Do not lower or switch off the quorum, and do not force a role.",
	"copy":      "Bring the node with the copy that is up to date back, or its connection. Do not force a role: that declares an old copy to be the data.",
	"writes":    "Let all pods of the volume on this node go, so that it is unmounted, and start them again: opening the device takes the role anew. Find out who took it away (an administrator, a reactor).",
	"suspended": "Bring back what it waits for: for fencing the handler fence-peer must end with success, so look at its log and at the cluster manager that it calls; for no-disk a copy that is up to date; for user whoever suspended it resumes it. Resume fencing by hand (drbdadm resume-io) only when the peer is known to be off: else both sides may write.",
	"refused":   "A Primary elsewhere lets go when nothing holds the device there; a lost quorum, or a copy that is up to date, comes back with the peers. Do not force a role.",
}

// DRBDBack looks at a resource of DRBD that refuses, and says what it wants.
func DRBDBack(x *snapshot.Index, node, resource, lacks string) []Step {
	return []Step{
		Check("See role, disk, connections and quorum of the resource, on both sides.",
			OnSatellite(x, node, "drbdsetup", "status", resource, "--verbose"), Kubectl("linstor", "resource", "list", "-r", resource)),
		Words(drbdHelps[lacks] + " No filesystem check and no formatting of the volume below: what cannot be opened here says nothing about its content."),
	}
}
