package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIInterfaceMisbound finds nodes whose iSCSI logins are bound to an interface
// from which the target cannot be reached.
var ISCSIInterfaceMisbound = &diagnosis.Rule{
	Name: "iscsi-interface-misbound", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		why, needed := iscsi.NeedOf(pl)
		if needed.No() {
			return nil
		}
		addr, said := iscsi.Unreached(pl)
		if addr == "" {
			return nil
		}
		bound, is := iscsi.Bindings(pl)
		if len(bound) == 0 {
			bound = []iscsi.Binding{{}}
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node),
			With:    words.Fields{"node": pl.Node, "why": why, "record": bound[0].Name, "to": bound[0].To, "target": addr, "works": ""},
			State:   []evidence.Answer{needed, said, is},
			Last:    []evidence.Answer{iscsi.Plain(pl, addr)}, // fails: network-host-to-pod-blocked, nobody gets through
			Steps: []remedy.Step{remedy.Words("Drain node " + pl.Node + " and log out its iSCSI sessions, then delete the interface record " + bound[0].File +
				" and the node records that were made with it, and restart iscsid. If a SAN needs the record, bind it in that target's records only.")},
		}
		if iscsi.Plain(pl, addr).Yes() {
			p.With["works"] = addr + ":3260"
		}
		p.Node(pl.Node)
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}
