package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ISCSIModuleMissing finds nodes whose kernel has no iSCSI initiator over TCP.
var ISCSIModuleMissing = &diagnosis.Rule{
	Name: "iscsi-module-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	LeadsTo:  []string{"iscsid-not-running"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		why, needed := iscsi.NeedOf(pl)
		if why == "" {
			return nil
		}
		rebuilt, absent := iscsi.NoModule(pl)
		gone, said := iscsi.ModuleSaid(pl)
		release, _ := node.Kernel(pl.X, pl.Node)
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: "absent", With: words.Fields{"node": pl.Node, "release": release, "why": why},
			State: []evidence.Answer{needed, absent},
			Steps: []remedy.Step{remedy.Words("Install the kernel flavour or the package of extra modules that has iscsi_tcp on node " + pl.Node + " (kernel-default instead of kernel-default-base, linux-modules-extra, a generic kernel instead of a vendor's) and reboot into it. Until then keep pods with such volumes on other nodes.")},
		}
		p.Node(pl.Node)
		if said.Yes() {
			p.State[0] = needed.With(said.Facts()...)
		}
		if absent.Unseen() && said.Yes() { // the word of who looked for it; a name that others say too is no proof
			if p.Says, p.State = "said", []evidence.Answer{needed, said}; !gone {
				p.Last = []evidence.Answer{absent}
			}
		}
		if rebuilt {
			p.Says = "rebuilt"
			p.Steps = []remedy.Step{remedy.Words("Reboot node " + pl.Node + " into the kernel whose modules are installed, after draining it.")}
		}
		p.Last = append(p.Last, pl.Tables(probes.Machine).Nothing()) // which kernel runs, and what its directory has
		return []*diagnosis.Proof{p}
	},
}
