package transport

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIToolsMissing finds nodes without open-iscsi, or with it where nobody looks.
var ISCSIToolsMissing = &diagnosis.Rule{
	Name: "iscsi-tools-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	LeadsTo:  []string{"longhorn-control-plane-down", "iscsid-not-running"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Offers:   []string{"install-package"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		why, needed := iscsi.NeedOf(pl)
		if why == "" {
			return nil
		}
		at, absent := iscsi.NoTool(pl)
		looked, said := iscsi.ToolSaid(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "absent",
			With:       words.Fields{"node": pl.Node, "why": why, "at": at, "searched": "/" + strings.Join(probes.ToolDirs(), ", /")},
			State:      []evidence.Answer{needed, absent, iscsi.OfHost(pl)},
			Last:       []evidence.Answer{pl.Tables(probes.Files).Nothing(), iscsi.HostsKubelet(pl)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a program that was found", Is: iscsi.ToolFound(pl)}},
			Steps:      []remedy.Step{remedy.Install(pl.X, pl.Node, remedy.ISCSITools, "iscsiadm")},
		}
		if len(p.Steps[0].Commands) > 0 { // elsewhere the lines of configuration start it, too
			p.Steps[0] = p.Steps[0].Note("Then enable and start iscsid, unless the package does.")
		}
		switch {
		case at != "":
			p.Says = "elsewhere"
			p.Steps = []remedy.Step{remedy.Words("Make " + at + " reachable in a searched directory of node " + pl.Node + " (a link in /usr/local/sbin), or set PATH for longhorn-manager, the instance-managers and the CSI pods.")}
		case absent.Unseen() && said.Yes(): // the check of longhorn-manager is first-hand, nsenter's words are hints
			if p.Says, p.State, p.Last = "said", []evidence.Answer{needed, said}, nil; !looked {
				p.Last = []evidence.Answer{absent}
			}
		}
		if said.Yes() {
			p.State[0] = needed.With(said.Facts()...)
		}
		p.Node(pl.Node)
		if pl.Volume != nil {
			p.Users(pl.Volume.WaitingOn(pl.Node)...)
		}
		return []*diagnosis.Proof{p}
	},
}
