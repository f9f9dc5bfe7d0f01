package transport

import (
	"path"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIDNotRunning finds nodes whose iSCSI daemon is not there, or keeps the node
// from booting.
var ISCSIDNotRunning = &diagnosis.Rule{
	Name: "iscsid-not-running", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Unmounting},
	LeadsTo: []string{"iscsi-session-lost", "node-down"},
	YieldsTo: []string{"iscsi-tools-missing", "iscsi-initiator-name-invalid", "iscsi-module-missing",
		"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Offers: []string{"start-iscsid"},
	Asks:   diagnosis.EachPlace | diagnosis.EachNode,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return []*diagnosis.Proof{bootHangs(pl)}
		}
		code, said := iscsi.DaemonRefused(pl)
		wanted, broken := iscsi.Wanted(pl), iscsi.Breaks(pl)
		if wanted.No() && !broken.Yes() {
			return nil
		}
		none, deaf := iscsi.NoDaemon(pl), iscsi.NoSocket(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "dead", Last: []evidence.Answer{deaf},
			With:  words.Fields{"node": pl.Node, "why": "volume " + pl.Volume.Spoken() + " waits there for its iSCSI disk", "contained": iscsi.Contained(pl)},
			State: []evidence.Answer{wanted.With(said.Facts()...), evidence.Any(said, iscsi.Tried(pl)), none},
			LookAlikes: []diagnosis.LookAlike{
				{Cause: "iscsi-tools-missing", Is: iscsi.ToolMissing(pl)},
				{Cause: "iscsi-initiator-name-invalid", Is: iscsi.Nameless(pl)},
				{Cause: "iscsi-module-missing", Is: iscsi.Driverless(pl)},
			},
			Steps: []remedy.Step{remedy.StartISCSI(pl.X, pl.Node)},
		}
		switch {
		case broken.Yes():
			p.With["why"] = "the session of volume " + pl.Volume.Spoken() + " broke, and only the daemon logs in again"
			p.State, p.Last = []evidence.Answer{broken, none, deaf}, nil
		case none.Unseen() && said.Yes(): // the word of who was refused
			p.Says, p.State = "refused", []evidence.Answer{p.State[0], said}
			if p.Last = nil; !code {
				p.Last = []evidence.Answer{none}
			}
		case deaf.Unseen() && said.Yes():
			p.Last = nil
		}
		p.Node(pl.Node)
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}

// bootHangs finds a node whose boot waits for iscsi.service: it logs in to every record
// with node.startup = automatic, and Longhorn's portals are pods that can only start
// after the boot. The console is no part of a recording, so that is never more than likely.
func bootHangs(pl *evidence.Place) *diagnosis.Proof {
	unit, enabled := iscsi.LoginUnit(pl)
	records, stale := iscsi.StaleLogins(pl)
	if len(records) == 0 {
		return nil
	}
	return &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), Says: "boot", AtMost: report.Likely,
		With:  words.Fields{"node": pl.Node, "unit": unit, "records": strconv.Itoa(len(records)), "where": path.Dir(path.Dir(path.Dir(records[0].Path))), "target": records[0].Target},
		State: []evidence.Answer{iscsi.Booting(pl), enabled, stale},
		Steps: remedy.BootOn(pl.Node, unit, len(records)),
	}
}
