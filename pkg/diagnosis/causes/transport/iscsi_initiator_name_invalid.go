package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIInitiatorNameInvalid finds nodes whose initiator has no name, none that is
// valid, or one that the target does not let in.
var ISCSIInitiatorNameInvalid = &diagnosis.Rule{
	Name: "iscsi-initiator-name-invalid", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	LeadsTo:  []string{"iscsid-not-running", "backend-node-unknown"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		why, needed := iscsi.NeedOf(pl)
		if why == "" {
			return nil
		}
		defect, bad := iscsi.BadName(pl)
		wrong, said := iscsi.NameSaid(pl)
		p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node), With: words.Fields{"node": pl.Node, "why": why, "defect": defect, "mine": "", "theirs": ""}}
		line := "InitiatorName=$(iscsi-iname)"
		switch {
		case bad.Yes():
			p.Says, p.State, p.Last = "invalid", []evidence.Answer{needed, bad.With(said.Facts()...)}, []evidence.Answer{iscsi.Failing(pl), iscsi.Read(pl)}
		case pl.View != nil:
			name, from, current := "", report.Evidence{}, false
			shown := iscsi.NothingShown(pl, true)
			if shown.Yes() && iscsi.Valid(&pl.View.Facts.ISCSI) {
				name, from, current = iscsi.Registered(pl, pl.View.Facts.ISCSI.InitiatorName)
			}
			if name == "" {
				return diagnosis.Open(pl, probes.Sessions, probes.Files)
			}
			p.With["mine"], p.With["theirs"], line = pl.View.Facts.ISCSI.InitiatorName, name, "InitiatorName="+name
			p.Says, p.State = "unknown", []evidence.Answer{needed, evidence.Yes(iscsi.NameLine(pl.View), from), shown}
			if p.Last = []evidence.Answer{iscsi.Read(pl)}; !current {
				p.Last = append(p.Last, evidence.Unseen(evidence.Lack{Need: "the name that the storage has registered for node " + pl.Node + " now", Node: pl.Node, Why: "only an older log tells one"}))
			}
		case wrong: // judged without the file
			p.Says, p.State, p.Last = "said", []evidence.Answer{needed, said}, []evidence.Answer{bad}
		case iscsi.NothingShown(pl, false).Yes():
			p.Says, p.State, p.Last, p.AtMost = "unlisted", []evidence.Answer{needed, iscsi.NothingShown(pl, false)}, []evidence.Answer{bad}, report.Possible
		case said.Yes(): // the daemon may not have answered: the file would tell
			p.State = []evidence.Answer{needed, bad}
		default:
			return nil
		}
		p.Steps = []remedy.Step{remedy.Words("On node " + pl.Node + " write the line " + line + " to /" + iscsi.InitiatorFile + " and restart iscsid." + iscsi.Dropped(pl) + " Targets that allow initiators by name must know the new one.")}
		if p.Says == "unlisted" {
			p.Steps = []remedy.Step{remedy.Words("Compare the name in /" + iscsi.InitiatorFile + " of node " + pl.Node + " with the one that the storage has registered for it.")}
		}
		p.Node(pl.Node)
		if pl.Volume != nil {
			p.Users(pl.Volume.WaitingOn(pl.Node)...)
		}
		return []*diagnosis.Proof{p}
	},
}
