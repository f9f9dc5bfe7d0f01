package risk

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// HostnameShared finds nodes with one kernel host name.
var HostnameShared = &diagnosis.Rule{
	Name: "hostname-shared", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	LeadsTo: []string{"nfs-client-id-collision"},
	Asks:    diagnosis.EachNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		same := machine.SameName(pl.X, pl.Node)
		if len(same.Nodes) == 0 {
			return nil
		}
		return []*diagnosis.Proof{{
			Subject: diagnosis.NodeSubject(pl.Node),
			With:    words.Fields{"node": pl.Node, "twins": words.List(same.Nodes, 5), "name": same.Name},
			State:   []evidence.Answer{same.Is},
			Last:    []evidence.Answer{same.Read},
			Steps:   []remedy.Step{remedy.Words("Give every node a host name of its own before the next RWX mount; mounts that exist keep the old name until they are mounted anew.")},
		}}
	},
}
