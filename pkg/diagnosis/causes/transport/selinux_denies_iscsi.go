package transport

import (
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SELinuxDeniesISCSI finds nodes where SELinux keeps iscsiadm or iscsid from their work.
var SELinuxDeniesISCSI = &diagnosis.Rule{
	Name: "selinux-denies-iscsi", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		denied := security.Denied(pl.View, pl.X, "iscsiadm", "iscsid")
		if len(denied) == 0 && iscsi.Wanted(pl).Yes() {
			return diagnosis.Open(pl, probes.KernelLog, probes.Files)
		} else if len(denied) == 0 {
			return nil
		}
		last := denied[len(denied)-1]
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node),
			With: words.Fields{"node": pl.Node, "comm": last.Comm(), "permission": last.Permissions(), "times": strconv.Itoa(len(denied)),
				"volume": pl.Volume.Spoken()},
			State: []evidence.Answer{iscsi.Wanted(pl), security.Held(pl), security.Found(denied)},
			Last:  []evidence.Answer{security.Enforcing(pl.View)},
			Steps: []remedy.Step{
				remedy.Words("Install a policy that allows it: the corrected container-selinux or selinux-policy package of the distribution, else a local module made from exactly these records (audit2allow) and nothing else. Longhorn's documentation has such a module for " + last.Permissions() + "."),
				remedy.Words("Do not disable SELinux on the node. A call of iscsiadm by hand runs in another domain and proves nothing."),
			},
		}
		p.Node(pl.Node)
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}
