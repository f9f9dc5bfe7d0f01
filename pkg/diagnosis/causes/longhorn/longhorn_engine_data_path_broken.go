package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// EngineDataPathBroken finds a node on which the disks of Longhorn appear and cannot be read.
var EngineDataPathBroken = &diagnosis.Rule{
	Name: "longhorn-engine-data-path-broken", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Serving, diagnosis.Using},
	LeadsTo: []string{"longhorn-volume-faulted", "longhorn-share-manager-down"},
	Asks:    diagnosis.EachPlace | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume != nil && !pl.Volume.IsLonghorn() {
			return nil
		}
		failing, facts := lh.Failing(pl.X, pl.Node)
		read := lh.FirstReadFails(pl)
		if len(failing) == 0 || read.No() {
			return nil
		}
		var names []string
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), State: []evidence.Answer{evidence.Yes(facts...), read},
			Steps: []remedy.Step{
				remedy.Check("Compare the node with one that works: image, kernel, version of open-iscsi, and what was upgraded last.",
					remedy.Kubectl("get", "nodes", "-o", "wide")),
				remedy.Words("Run the workload on another node (cordon this one first), then restart this one. A fresh installation of the node is the last step, and only when every volume has a healthy replica elsewhere: its disk holds replicas. Neither check nor format the volumes: their data is not damaged."),
			},
		}
		for _, v := range failing {
			names = append(names, v.LH().Name)
			p.Volume(v)
		}
		p.With = words.Fields{"node": pl.Node, "volumes": words.List(names, 3)}
		if compared := evidence.Any(evidence.When(len(failing) > 1), lh.Elsewhere(pl.X, pl.Node)); compared.Yes() {
			p.Last = []evidence.Answer{compared}
		} else {
			p.Last = []evidence.Answer{evidence.Unseen(evidence.Lack{Need: "another volume of node " + pl.Node + ", or another node with a volume, to compare with", Node: pl.Node, Why: "there is none"})}
		}
		if read.Unseen() {
			p.State[1], p.Last, p.AtMost = lh.TargetSays(pl.X, pl.Node), append(p.Last, read), report.Likely
		}
		return []*diagnosis.Proof{p}
	},
}
