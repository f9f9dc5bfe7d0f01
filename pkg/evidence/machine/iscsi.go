package machine

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ISCSIDaemon asks whether the iSCSI daemon of a node runs, or starts when it is wanted.
func ISCSIDaemon(x *snapshot.Index, node string) evidence.Answer {
	view := x.View(node)
	whole := evidence.Tables(x, node, probes.Processes).And(evidence.Ended(x, node, probes.Sessions))
	if view == nil {
		return evidence.Unseen(whole.Lacks()...)
	}
	if pids := view.Facts.ISCSI.DaemonPIDs; len(pids) > 0 {
		return evidence.Yes(evidence.FromNode(node, fmt.Sprintf("proc/%d/comm", pids[0]), "iscsid"))
	}
	const table = "proc/1/net/unix"
	sockets, read := file(x, node, table)
	for l := range strings.Lines(sockets) {
		if strings.Contains(l, iscsi.Socket) {
			return evidence.Yes(evidence.FromNode(node, table, strings.TrimSpace(l)))
		}
	}
	if !read {
		whole = whole.And(evidence.Partial(lack(node, probes.Files, table+" was not read")))
	}
	if !whole.Complete() {
		return evidence.Unseen(whole.Lacks()...)
	}
	return evidence.No(evidence.FromNode(node, "proc/*/comm", "no iscsid"), evidence.FromNode(node, table, "no "+iscsi.Socket))
}

// Initiator asks whether a node has a name as an iSCSI initiator; without one iscsid
// does not start (RFC 7143, 4.2.7; usr/iscsid.c).
func Initiator(x *snapshot.Index, node string) evidence.Answer {
	view := x.View(node)
	if view == nil {
		return evidence.Unseen(evidence.Tables(x, node, probes.Sessions).Lacks()...)
	}
	name := view.Facts.ISCSI.InitiatorName
	if iscsi.Valid(&view.Facts.ISCSI) {
		return evidence.Yes(evidence.FromNode(node, iscsi.InitiatorFile, name))
	}
	if r := Read(x, node, probes.Sessions, "etc/iscsi"); !r.Complete() {
		return evidence.Unseen(r.Lacks()...)
	}
	configured := view.Facts.ISCSI.InitiatorFile != "" || len(view.Facts.ISCSI.Config) > 0 || view.HasBelow("etc/iscsi") // its package brings some files
	if name == "" && !configured {
		return evidence.Unseen(lack(node, probes.Sessions, "no file of etc/iscsi was seen"))
	}
	if name == "" {
		return evidence.No(evidence.FromNode(node, iscsi.InitiatorFile, "no name"))
	}
	return evidence.No(evidence.FromNode(node, iscsi.InitiatorFile, name))
}
