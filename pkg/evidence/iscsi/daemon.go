package iscsi

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// What open-iscsi says when nobody listens on the daemon's socket: 111 is ECONNREFUSED
// (iscsid_connect in usr/iscsid_req.c). Without the driver of the kernel the words are
// about NETLINK_ISCSI instead.
var (
	refusedCode = pattern.MustCompile(`(?i)can ?not connect to iSCSI daemon ?\(111\)`)
	refusedAll  = pattern.MustCompile(refusedCode.String() + `|(?i)can ?not connect to iSCSI daemon|could not connect to iscsid|(?s)iscsi(?:adm|:).*exit status (18|20)\b`)
	netlink     = pattern.MustCompile(`NETLINK_ISCSI`)
	nameWords   = pattern.MustCompile(`(?i)Invalid Initiatorname|Initiatorname required|InitiatorName file \S+ does not exist`)
)

// Socket is where iscsiadm reaches the daemon; systemd may hold it for a daemon that starts
// at the first connection (iscsid.socket of open-iscsi).
const Socket = "@ISCSIADM_ABSTRACT_NAMESPACE"

// DaemonRefused asks whether iscsiadm could not reach the daemon of the place's node, in
// its own fresh words. Code tells that it names the refusal of the socket and speaks of
// no name, whose file would decide: then it is proof by itself.
func DaemonRefused(pl *evidence.Place) (code bool, a evidence.Answer) {
	said := Said(pl)
	for _, form := range []*pattern.Pattern{refusedCode, refusedAll} {
		for _, t := range said {
			if form.MatchString(t.Raw) && !netlink.MatchString(t.Raw) {
				return form == refusedCode && !nameWords.MatchString(t.Raw), evidence.Yes(t.Evidence())
			}
		}
	}
	return false, evidence.No()
}

// NoDaemon asks whether no daemon runs on the place's node.
func NoDaemon(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return pl.Probed().Nothing()
	}
	if len(pl.View.Facts.ISCSI.DaemonPIDs) > 0 {
		return evidence.No()
	}
	whole := pl.Tables(probes.Processes).And(evidence.Ended(pl.X, pl.Node, probes.Sessions))
	return whole.Nothing(evidence.FromNode(pl.Node, "proc/*/comm", "no iscsid"))
}

// NoSocket asks whether nobody listens on the daemon's socket.
func NoSocket(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return pl.Probed().Nothing()
	}
	socket, ok := pl.View.Facts.Files["proc/1/net/unix"]
	if !ok || socket.Err != "" {
		return evidence.Unseen(evidence.Lack{Need: "the sockets of node " + pl.Node + " (proc/1/net/unix)", Node: pl.Node, Why: "they were not read"})
	}
	return evidence.When(!strings.Contains(socket.Content, Socket), evidence.FromNode(pl.Node, "proc/1/net/unix", "no "+Socket))
}

// Tried asks whether an attach of the volume gets as far as iSCSI: a Longhorn volume that
// is faulted or detached never asks the initiator.
func Tried(pl *evidence.Place) evidence.Answer {
	lh := pl.Volume.LH()
	return evidence.When(lh == nil || lh.Status.Robustness != "faulted" && lh.Status.State != "detached")
}

// ToolMissing asks whether open-iscsi is not installed on the place's node.
func ToolMissing(pl *evidence.Place) evidence.Answer {
	if pl.View == nil || pl.View.Facts.Tool("iscsiadm") != "" {
		return evidence.No()
	}
	if !pl.View.Facts.ToolsRead() {
		return evidence.Not(pl.Tables(probes.Files).Nothing())
	}
	return evidence.Yes()
}

// Driverless asks whether the kernel has no iSCSI at all, so that the daemon ends at its
// start for want of NETLINK_ISCSI.
func Driverless(pl *evidence.Place) evidence.Answer {
	if pl.View == nil {
		return evidence.No()
	}
	m := pl.View.Facts.Module("scsi_transport_iscsi")
	switch {
	case m.Available() || len(pl.View.Facts.ISCSI.Transports) > 0:
		return evidence.No()
	case m.Listed && pl.View.Facts.LoadedRead():
		return evidence.Yes()
	}
	return evidence.Not(pl.Tables(probes.Files).Nothing())
}

// Contained says in words that process 1 of the node runs in a container itself; empty
// for a machine.
func Contained(pl *evidence.Place) string {
	if pl.View == nil || !pl.View.Contained() {
		return ""
	}
	return "Process 1 of this node runs in a container itself, so the daemon must run inside that container."
}

// Breaks asks whether a session of the volume broke on the place's node: the daemon, not
// the kernel, logs in again.
func Breaks(pl *evidence.Place) evidence.Answer {
	for _, w := range BrokenWays(pl) {
		return w.Is
	}
	return evidence.No()
}
