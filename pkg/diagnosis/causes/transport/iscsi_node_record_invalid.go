package transport

import (
	"path"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSINodeRecordInvalid finds records of open-iscsi that its tools cannot read.
var ISCSINodeRecordInvalid = &diagnosis.Rule{
	Name: "iscsi-node-record-invalid", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		why, needed := iscsi.NeedOf(pl)
		if why == "" || needed.No() {
			return nil
		}
		said, p := iscsi.ComplaintOf(pl), &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node)}
		p.With = words.Fields{"node": pl.Node, "why": why, "parameter": said.Parameter, "file": said.File, "reason": "", "count": ""}
		p.Node(pl.Node)
		if pl.Volume != nil {
			p.Users(pl.Volume.WaitingOn(pl.Node)...)
		}
		is, look := said.Is, "On node "+pl.Node+" look for records that are empty, cut or full of NUL bytes below /etc/iscsi/nodes and /var/lib/iscsi/nodes; remove exactly those directories whose target has no session in /sys/class/iscsi_session."
		switch {
		case pl.View != nil:
			d := iscsi.DatabaseOf(pl, said)
			if len(d.Bad) == 0 {
				return diagnosis.Open(pl, probes.Sessions)
			}
			p.Says, is, p.Last = "record", d.Is, []evidence.Answer{d.Proven, pl.Tables(probes.Sessions).Nothing()}
			if p.With["file"], p.With["reason"] = d.Bad[0].Path, d.Bad[0].Why; len(d.Bad) > 1 {
				p.With["count"] = strconv.Itoa(len(d.Bad))
			}
			if !d.Proven.Yes() {
				p.Says = "elsewhere"
			}
			look = d.Removal(pl.View)
			if !pl.Swept {
				for _, o := range iscsi.AlsoOn(pl) {
					p.Also = append(p.Also, "The same kind of record lies on node "+o+".")
				}
			}
		case said.File != "":
			p.Says = "refused"
			look = "On node " + pl.Node + " look whether " + path.Dir(said.File) + " is damaged and whether its target has a session in /sys/class/iscsi_session; without a session remove exactly this directory."
		case said.Is.Yes():
			p.Says, p.Last = "refused", []evidence.Answer{pl.Probed().Nothing()}
		case iscsi.StatusOfDatabase(pl).Yes():
			p.Says, is, p.Last = "status", iscsi.StatusOfDatabase(pl), []evidence.Answer{pl.Probed().Nothing()}
		case pl.Volume != nil && len(iscsi.Refused(pl.X)) > 0:
			is = pl.Probed().Nothing()
		}
		p.State = []evidence.Answer{needed, is}
		p.Steps = []remedy.Step{remedy.Words(look + " Never remove the whole database on a node with sessions.")}
		return []*diagnosis.Proof{p}
	},
}
