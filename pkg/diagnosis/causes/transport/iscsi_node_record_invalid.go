package transport

import (
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_node_record_invalid.md
var iscsiNodeRecordInvalidDoc string

// ISCSINodeRecordInvalid finds records of open-iscsi that its tools cannot read.
var ISCSINodeRecordInvalid = &diagnosis.Rule{
	Name: "iscsi-node-record-invalid", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("iscsi")},
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      iscsiNodeRecordInvalidDoc,
	Run: func(p *diagnosis.Pass) {
		said := map[string]complaintOf{}
		for _, n := range everyNode(p) {
			said[n] = recordComplaint(p, n)
		}
		unknown := unknownParameters(said)
		elsewhere := badElsewhere(p, unknown)
		for _, n := range iscsiNeeds(p) {
			recordsOn(p, n, said[n.node], unknown, elsewhere)
		}
	},
}

// badRecord is a record that iscsiadm refuses, and why.
type badRecord struct {
	probes.ISCSIRecord
	why   string
	known bool // the file itself is damaged, whatever reads it
}

// badRecords are the damaged records of a node, and those that hold a parameter
// which some iscsiadm of the cluster refused. A record whose own target is logged
// in on this node was read by this node's iscsiadm, so its parameters are known there.
func badRecords(view *snapshot.NodeView, unknown []string) []badRecord {
	var out []badRecord
	for _, r := range view.Facts.ISCSI.Records {
		if damaged(r.Problem) {
			out = append(out, badRecord{r, r.Problem, true})
			continue
		}
		for _, name := range unknown {
			if _, ok := r.Values[name]; ok {
				out = append(out, badRecord{r, "it holds " + name, false})
				break
			}
		}
	}
	return out
}

// damaged leaves out what only the probe could not read, and directories.
func damaged(problem string) bool {
	return problem != "" && !strings.HasPrefix(problem, "cannot be read") && !strings.HasPrefix(problem, "is a directory")
}

// works tells whether the node's own iscsiadm reads records with the parameter: a
// session of such a record's target is logged in since the boot.
func works(view *snapshot.NodeView, bad []badRecord) bool {
	for _, r := range bad {
		if s := view.Session(r.Target); s != nil && s.State == "LOGGED_IN" && !r.known {
			return true
		}
	}
	return false
}

// recordsOn judges one node: a damaged file, or a fresh complaint about a file that
// is still there, is proof; the same parameter without a complaint makes it likely.
func recordsOn(p *diagnosis.Pass, n need, said complaintOf, unknown, elsewhere []string) {
	view := p.View(n.node)
	if view == nil {
		switch {
		case said.file != "" || said.parameter != "":
			reportUnread(p, n, said)
		case n.attach() && len(unknown) > 0:
			p.Probed(n.node)
		default:
			statusOfDatabase(p, n)
		}
		return
	}
	bad := badRecords(view, unknown)
	if len(bad) == 0 {
		return
	}
	certainty := report.Likely
	for _, r := range bad {
		if r.known || said.parameter != "" && r.Values[said.parameter] != "" {
			certainty = report.Certain
		}
	}
	if certainty != report.Certain && works(view, bad) {
		return
	}
	f := p.Find(certainty, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("%s", recordWords(n.node, bad, said, certainty))
	for i, r := range bad {
		if i < 6 {
			f.Fact(recordEvidence(n.node, r, unknown))
		}
	}
	f.Fact(said.evidence...)
	if certainty != report.Certain {
		f.Missing("whether the iscsiadm of node " + n.node + " knows the parameter: nobody attached there lately, so no error is no proof of health")
	}
	for _, o := range elsewhere {
		if !strings.HasPrefix(o, n.node+":") && !p.Sweep() {
			f.Also = append(f.Also, "the same kind of record lies on node "+o)
		}
	}
	f.Unless("records that end with # END RECORD and hold no parameter which this node's iscsiadm refuses")
	f.Advise(recordAdvice(view, n.node, bad))
	p.Report(f)
}

func recordWords(node string, bad []badRecord, said complaintOf, certainty report.Certainty) string {
	r := bad[0]
	if certainty != report.Certain {
		return fmt.Sprintf("On node %s %s records of open-iscsi carry a parameter that the iscsiadm of another node refuses, first %s (%s). If the node's own version refuses it, too, every call of iscsiadm there fails, also for healthy volumes.",
			node, atLeast(len(bad)), r.Path, r.why)
	}
	text := fmt.Sprintf("A node record of open-iscsi on node %s cannot be read: %s (%s). ", node, r.Path, r.why)
	if len(bad) > 1 {
		text += fmt.Sprintf("There are %d such records. ", len(bad))
	}
	if said.parameter != "" {
		text += fmt.Sprintf("The node's iscsiadm refuses the parameter %s. ", said.parameter)
	}
	return text + "iscsiadm reads the whole database at every call, so every call on this node fails, also for healthy volumes."
}

func atLeast(n int) string {
	if n == 1 {
		return "one of the"
	}
	return fmt.Sprintf("%d", n)
}

func recordEvidence(node string, r badRecord, unknown []string) report.Evidence {
	text := fmt.Sprintf("%s, %d bytes", r.why, r.Size)
	for _, name := range unknown {
		if v, ok := r.Values[name]; ok && !r.known {
			text = name + " = " + v
		}
	}
	return diagnosis.FromNode(node, r.Path, text)
}

// recordAdvice names the directories that may go: damaged, and of targets without
// a session. The others must be kept until their volume is detached.
func recordAdvice(view *snapshot.NodeView, node string, bad []badRecord) remedy.Step {
	var free, busy []string
	for _, r := range bad {
		dir := path.Dir(r.Path)
		list := &free
		if len(view.SessionsOf(r.Target)) > 0 {
			list = &busy
		}
		if !slices.Contains(*list, dir) {
			*list = append(*list, dir)
		}
	}
	text := "On node " + node + " remove exactly these record directories, whose targets have no session: " + strings.Join(free, ", ") + ". The next attempt succeeds by itself."
	if len(free) == 0 {
		text = "All damaged records of node " + node + " belong to targets with a session: detach these volumes first."
	}
	if len(busy) > 0 {
		text += " Keep these until their session is gone, because their logout needs them: " + strings.Join(busy, ", ") + "."
	}
	return remedy.Words(text + " Never remove the whole database on a node with sessions. Versions of open-iscsi that read both forms: up to 2.1.11, and from 2.1.13 on.")
}

// reportUnread reports a fresh refusal on a node that was not probed: iscsiadm
// names the file that it cannot read.
func reportUnread(p *diagnosis.Pass, n need, said complaintOf) {
	f := p.Find(report.Certain, diagnosis.NodeSubject(n.node))
	n.tie(f)
	text := fmt.Sprintf("iscsiadm on node %s refuses the node record %s. ", n.node, said.file)
	if said.file == "" {
		text = fmt.Sprintf("iscsiadm on node %s refuses a node record of its database. ", n.node)
		said.file = "/var/lib/iscsi/nodes/…/default"
		f.Missing("the file that iscsiadm of node " + n.node + " refuses")
		p.Probed(n.node)
	}
	if said.parameter != "" {
		text += fmt.Sprintf("It does not know the parameter %s. ", said.parameter)
	}
	f.Sayf("%sIt reads the whole database at every call, so every call on this node fails, also for healthy volumes.", text)
	f.Fact(said.evidence...)
	f.Unless("a later call of iscsiadm on the node without this error")
	f.Advise(remedy.Words("On node " + n.node + " look whether " + path.Dir(said.file) + " is damaged and whether its target has a session in /sys/class/iscsi_session; without a session remove exactly this directory. Never remove the whole database on a node with sessions."))
	p.Report(f)
}

// databaseStatus are the exit statuses 6 and 7 of iscsiadm (ISCSI_ERR_IDBM,
// ISCSI_ERR_INVAL in include/iscsi_err.h), and the function that reads all records.
var databaseStatus = regexp.MustCompile(`(?s)iscsiadm.*exit status [67]\b|_idbm_recs_read`)

// statusOfDatabase takes the bare status of iscsiadm on a node that was not probed:
// an invalid initiator name ends with the same number, and then says so.
func statusOfDatabase(p *diagnosis.Pass, n need) {
	said, ok := nameText(p, n, databaseStatus)
	if !ok || nameWords.MatchString(said[0].Text) {
		return
	}
	p.Probed(n.node)
	f := p.Find(report.Likely, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("iscsiadm of node %s ends with the status of a database that it cannot read: by all signs a record below /etc/iscsi/nodes or /var/lib/iscsi/nodes is damaged or holds a parameter that it does not know. It reads the whole database at every call. %s.", n.node, sentence(n.why))
	f.Fact(said...).Missing("the node records of node " + n.node)
	f.Unless("records that end with # END RECORD and hold no parameter which this node's iscsiadm refuses")
	f.Advise(remedy.Words("On node " + n.node + " look for records that are empty, cut or full of NUL bytes below /etc/iscsi/nodes and /var/lib/iscsi/nodes; remove exactly those directories whose target has no session in /sys/class/iscsi_session. Never remove the whole database on a node with sessions."))
	p.Report(f)
}
