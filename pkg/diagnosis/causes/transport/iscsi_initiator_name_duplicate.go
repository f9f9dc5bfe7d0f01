package transport

import (
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIInitiatorNameDuplicate finds nodes that call themselves by one initiator name at
// one target system, which then drops their sessions in turn.
var ISCSIInitiatorNameDuplicate = &diagnosis.Rule{
	Name: "iscsi-initiator-name-duplicate", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Using},
	LeadsTo: []string{"iscsi-session-lost"},
	Asks:    diagnosis.EachPlace | diagnosis.EachSweep,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume != nil && (pl.Swept || !iscsi.Lives(pl).Yes()) {
			return nil // of a sweep, each group of nodes is one finding
		}
		found := evidence.Each(iscsi.GroupsAt(pl), func(group iscsi.Group) *diagnosis.Proof { return sameInitiator(group.Place, group.Twins) })
		return append(append(found, diagnosis.Open(pl, probes.Sessions)...), diagnosis.Unread(iscsi.Everyone(pl.X)))
	},
}

func sameInitiator(pl *evidence.Place, twins iscsi.Twins) *diagnosis.Proof {
	nodes := append([]string{pl.Node}, twins.Nodes...)
	connection, times, drops := twins.Drops(pl.X, pl.Node)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), Says: "dropped",
		With: words.Fields{"nodes": words.List(nodes, 0), "name": pl.View.Facts.ISCSI.InitiatorName, "portal": twins.Portal,
			"connection": connection, "times": strconv.Itoa(times)},
		State: []evidence.Answer{twins.Is, drops},
		Steps: []remedy.Step{
			remedy.Words("Give every node but one a name of its own: drain it and log out its iSCSI sessions, write the line InitiatorName=$(iscsi-iname) to /" + iscsi.InitiatorFile + ", restart iscsid. Let the storage's access lists know the new names first, else the node loses its volumes."),
			remedy.Words("Take the name out of the image that the nodes are cloned from, so that each makes its own at its first boot."),
		},
	}
	if !drops.Yes() { // some targets bear it
		p.Says, p.AtMost, p.State, p.Last = "quiet", report.Possible, []evidence.Answer{twins.Is, iscsi.Suffers(pl)}, []evidence.Answer{drops}
	}
	for _, n := range nodes {
		p.At(n)
		if pl.Volume == nil || n == pl.Node {
			p.Node(n)
		}
	}
	if pl.Volume != nil {
		p.Carried(pl.Volume, pl.Node)
	}
	return p
}
