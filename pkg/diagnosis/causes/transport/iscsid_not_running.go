package transport

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsid_not_running.md
var iscsidNotRunningDoc string

// ISCSIDNotRunning finds nodes whose iSCSI daemon is not there, or keeps the node
// from booting.
var ISCSIDNotRunning = &diagnosis.Rule{
	Name: "iscsid-not-running", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("process"), diagnosis.Probe("iscsi"), diagnosis.Probe("hostfiles")},
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume", "pod-stuck-terminating", "mount-failed"},
	LeadsTo:  []string{"iscsi-session-lost", "node-down"},
	YieldsTo: []string{"iscsi-tools-missing", "iscsi-initiator-name-invalid", "iscsi-module-missing",
		"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc: iscsidNotRunningDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			if n.attach() {
				daemonMissing(p, n)
			}
		}
		for _, node := range p.Nodes() {
			if n := recoveryNeed(p, node); n.attach() {
				daemonMissing(p, n)
			}
			bootHangs(p, node)
		}
	},
}

// refused is what open-iscsi says when nobody listens on the daemon's socket:
// 111 is ECONNREFUSED (iscsid_connect in usr/iscsid_req.c). Without the driver of
// the kernel the words are about NETLINK_ISCSI instead.
var (
	refused     = regexp.MustCompile(refusedCode.String() + `|(?i)can ?not connect to iSCSI daemon|could not connect to iscsid|(?s)iscsiadm.*exit status (18|20)\b`)
	refusedCode = regexp.MustCompile(`(?i)can ?not connect to iSCSI daemon ?\(111\)`)
	netlink     = regexp.MustCompile(`NETLINK_ISCSI`)
)

func daemonMissing(p *diagnosis.Pass, n need) {
	view := p.View(n.node)
	said, explicit := nameText(p, n, refusedCode)
	if !explicit {
		said, _ = nameText(p, n, refused)
	}
	if len(said) > 0 && netlink.MatchString(said[0].Text) {
		said = nil
	}
	switch {
	case view == nil && len(said) == 0:
		p.Probed(n.node)
		return
	case view == nil:
		refusedUnseen(p, n, said, explicit && !nameWords.MatchString(said[0].Text))
		return
	}
	c := &view.Facts.ISCSI
	socket, read := daemonSocket(view.Facts)
	if len(c.DaemonPIDs) > 0 || socket != "" || cannotRun(view) {
		return // it runs, systemd starts it, or something below keeps it from running
	}
	if len(said) == 0 && !attempted(n) {
		return
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("The iSCSI daemon of node %s does not run: there is no process iscsid, and nobody listens on its socket @ISCSIADM_ABSTRACT_NAMESPACE. %s.%s", n.node, sentence(n.why), containerised(view))
	f.Fact(diagnosis.FromNode(n.node, "proc/*/comm", "no iscsid"))
	if read {
		f.Fact(diagnosis.FromNode(n.node, "proc/1/net/unix", "no @ISCSIADM_ABSTRACT_NAMESPACE"))
	} else if len(said) == 0 {
		f.Missing("the sockets of node " + n.node + " (proc/1/net/unix)")
	}
	f.Fact(said...)
	f.Unless("a process iscsid, or its listening socket, on the node")
	f.Advise(startDaemon(n.node, view))
	p.Report(f)
}

// refusedUnseen takes iscsiadm's word on a node that was not probed. It is proof when it
// names the refusal of the socket and speaks of no name: the name's file would decide.
func refusedUnseen(p *diagnosis.Pass, n need, said []report.Evidence, proof bool) {
	certainty, how := report.Likely, "iscsiadm could not reach it"
	if proof {
		certainty, how = report.Certain, "iscsiadm was refused by its socket (111)"
	}
	f := p.Find(certainty, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("The iSCSI daemon of node %s does not run: %s. What keeps it from running (its package, the initiator's name, the kernel's module, or nothing but a unit that is not enabled) was not seen. %s.", n.node, how, sentence(n.why))
	f.Fact(said...)
	p.Probed(n.node)
	if certainty != report.Certain {
		f.Missing("the processes and sockets of node " + n.node)
	}
	f.Unless("a process iscsid, or its listening socket, on the node")
	f.Advise(startDaemon(n.node, nil))
	p.Report(f)
}

// recoveryNeed are volumes of the question whose session broke on a node: the daemon,
// not the kernel, logs in again.
func recoveryNeed(p *diagnosis.Pass, node string) need {
	n := need{node: node}
	view := p.View(node)
	if view == nil {
		return n
	}
	if _, read := daemonSocket(view.Facts); !read {
		return n // the session's own state says enough
	}
	for _, v := range p.Volumes() {
		if !usesISCSI(p, v) || wantedOn(p, v, node) {
			continue
		}
		pl := &evidence.Place{X: p.Index, Volume: v, Node: node, View: view, Texts: p.Texts(v)}
		if len(iscsi.BrokenWays(pl)) > 0 {
			n.volumes = append(n.volumes, v)
			n.why = "the session of volume " + volumeName(v) + " broke, and only the daemon logs in again"
		}
	}
	return n
}

// cannotRun tells whether the daemon has no chance: it is not installed, the
// initiator has no valid name, or the kernel has no iSCSI at all, so that the daemon
// ends at its start for want of NETLINK_ISCSI.
func cannotRun(view *snapshot.NodeView) bool {
	f := view.Facts
	if toolsRead(f) && f.Tool("iscsiadm") == "" || nameDefect(view) != "" {
		return true
	}
	m := f.Module("scsi_transport_iscsi")
	return m.Listed && !m.Available() && len(f.ISCSI.Transports) == 0
}

// attempted tells whether the attach got as far as iSCSI: a Longhorn volume that is
// faulted or has no running replica never asks the initiator.
func attempted(n need) bool {
	for _, v := range n.volumes {
		lh := v.LH()
		if lh == nil || lh.Status.Robustness != "faulted" && lh.Status.State != "detached" {
			return true
		}
	}
	return false
}

// daemonSocket finds the daemon's abstract socket; systemd may hold it for a daemon
// that starts at the first connection (iscsid.socket).
func daemonSocket(f *probes.Facts) (line string, read bool) {
	v, ok := f.Files["proc/1/net/unix"]
	if !ok || v.Err != "" {
		return "", false
	}
	for _, l := range strings.Split(v.Content, "\n") {
		if strings.Contains(l, "@ISCSIADM_ABSTRACT_NAMESPACE") {
			return strings.TrimSpace(l), true
		}
	}
	return "", true
}

func containerised(view *snapshot.NodeView) string {
	g := view.Facts.Identity.InitCgroup
	for _, w := range []string{"docker", "containerd", "lxc", "libpod", "kubepods"} {
		if strings.Contains(g, w) {
			return " Process 1 of this node runs in a container itself, so the daemon must run inside that container."
		}
	}
	return ""
}

func startDaemon(node string, view *snapshot.NodeView) remedy.Step {
	if view != nil && containerised(view) != "" {
		return remedy.Words("Run iscsid inside the container that is node " + node + "; a daemon of the machine around it does not serve it.")
	}
	if view == nil {
		return remedy.Words("On node " + node + " see first that /etc/iscsi/initiatorname.iscsi holds a name and that modprobe iscsi_tcp works, then start the daemon and keep it: systemctl enable --now iscsid. Its own words say what keeps it from running.")
	}
	return remedy.Words("On node " + node + " start the daemon and keep it: systemctl enable --now iscsid. The next attempt succeeds by itself.")
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
