package remedy

import (
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
)

// DaemonBack starts the iSCSI daemon of a node, as far as is known what runs there.
func DaemonBack(pl *evidence.Place) []Step {
	switch {
	case iscsi.Contained(pl) != "":
		return Sentences("Run iscsid inside the container that is node " + pl.Node + "; a daemon of the machine around it does not serve it.")
	case pl.View == nil:
		return Sentences("On node " + pl.Node + " see first that /etc/iscsi/initiatorname.iscsi holds a name and that modprobe iscsi_tcp works, then start the daemon and keep it: systemctl enable --now iscsid. Its own words say what keeps it from running.")
	}
	return Sentences("On node " + pl.Node + " start the daemon and keep it: systemctl enable --now iscsid. The next attempt succeeds by itself.")
}

// BootOn lets a node boot whose unit logs in to the records of targets that are not there.
func BootOn(node, unit string, records int) []Step {
	return Sentences(
		"Wait for the time-outs (about two minutes for each of the "+strconv.Itoa(records)+" records), or on the console of node "+node+" remove the records of Longhorn's targets that have no session.",
		"Then disable "+unit+" (not iscsid), unless the node needs automatic logins to real targets: Longhorn logs in by itself.",
	)
}
