// Package risk holds the rules of hazards that have not bitten yet.
package risk

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// MultipathMayClaim finds nodes whose multipathd is free to take Longhorn's disks.
var MultipathMayClaim = &diagnosis.Rule{
	Name: "multipath-may-claim", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	LeadsTo: []string{"multipath-claims-device"},
	Offers:  []string{"disable-multipathd"},
	Asks:    diagnosis.EachNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		kept, open := multipath.KeepsOff(pl.X, pl.Node)
		return []*diagnosis.Proof{{
			Subject: diagnosis.NodeSubject(pl.Node),
			With:    words.Fields{"node": pl.Node, "disks": words.List(open, 0), "remembered": multipath.Remembered(pl.View)},
			State:   []evidence.Answer{evidence.Not(kept), multipath.OfLonghornOn(pl)},
			Last:    []evidence.Answer{pl.Tables(probes.Maps).Nothing()}, // a file that was not read may exclude them
			Steps: []remedy.Step{
				remedy.Words("Exclude the disks on node "+pl.Node+": add them to the blacklist of /etc/multipath.conf, remove their WWIDs from /etc/multipath/wwids, and run multipathd reconfigure.").
					In("/etc/multipath.conf", remedy.Blacklist("IET", "VIRTUAL-DISK", "")...),
				remedy.DisableMultipathd(pl.Node),
			},
		}}
	},
}
