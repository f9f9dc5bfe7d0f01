package remedy

import (
	"cmp"
	"net"
)

// cephHelp is what helps in each branch of ceph-backend-unreachable.
var cephHelp = map[string]string{
	"peer":   "Open the monitors (3300 and 6789) and the ports of the OSDs and metadata servers (6800 and up) of all storage hosts for this node, with one MTU on the whole way.",
	"mds":    "Let the Ceph administrator bring the metadata server back.",
	"old":    "Use a kernel that speaks the protocol of the cluster (ms_mode in the map or mount options for version 2, from 5.11 on).",
	"health": "Let the Ceph administrator cure what the cluster complains of.",
	"mtu":    "Set one MTU on the whole way between the nodes and the storage hosts.",
}

// CephBack lets the daemons of Ceph answer a node again; address is that of a daemon which does not. What hangs in the
// kernel goes on, what gave up is tried again.
func CephBack(says, node, address string, hangs bool) []Step {
	after := " The next attempt succeeds by itself once the cluster answers: do not detach, unmap or reboot first, none of which reaches the storage."
	if hangs {
		after = " The call that hangs goes on by itself once the daemon answers: do not kill it, and do not detach, unmap or reboot first, none of which reaches the storage."
	}
	checks := []Command{"ceph health detail"}
	if host, port, err := net.SplitHostPort(address); err == nil {
		checks = append(checks, Dial(node, host, port))
	}
	return []Step{
		Check("Ask the cluster for its health, in the toolbox or on a host of Ceph, and try the way to it from this node and from one that works.", checks...),
		Words(cmp.Or(cephHelp[says], cephHelp["peer"]) + after),
	}
}
