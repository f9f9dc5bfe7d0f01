package longhorn

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// InstanceManagerStuck finds an instance-manager that hangs, or two that claim to be
// the one of their node.
var InstanceManagerStuck = &diagnosis.Rule{
	Name: "longhorn-instance-manager-stuck", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching, diagnosis.Serving},
	LeadsTo: []string{"longhorn-engine-record-stale", "longhorn-share-manager-down"},
	Offers:  []string{"delete-instance-manager"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		_, _, nobody := lh.NoManager(pl.X)
		dead := []diagnosis.LookAlike{{Cause: "longhorn-control-plane-down", Is: nobody}}
		out := evidence.Each(lh.TwinsOf(pl), func(t lh.Twins) *diagnosis.Proof { return twinManagers(pl, t, dead) })
		for _, h := range lh.HangsOf(pl) {
			im, rest := h.Manager, lh.Others(h.Manager, "")
			p := &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("InstanceManager", im.Namespace, im.Name), Says: "hangs",
				With:  words.Fields{"im": im.Name, "node": im.NodeID, "stuck": fmt.Sprint(h.Stuck), "traces": strings.Join(h.Traces, " ")},
				State: []evidence.Answer{h.Hangs()}, Last: []evidence.Answer{h.Sure()}, LookAlikes: dead,
				Steps: []remedy.Step{remedy.Words("Scale down the workloads whose engines run on node " + im.NodeID + ", and look at the log and the processes of the instance-manager pod (a process in D state, sockets without an answer).")},
			}
			if rest == 0 {
				p.Steps = append(p.Steps, remedy.DeleteInstanceManager(im, ""))
			} else {
				p.Steps = append(p.Steps, remedy.Words(fmt.Sprintf("Only when that does not help, and with these workloads scaled down: restart the instance-manager pod. All %d engines and replicas in it end with it.", rest)))
			}
			p.Object("im", im.Name)
			p.At(im.NodeID)
			out = append(out, p)
		}
		return out
	},
}

func twinManagers(pl *evidence.Place, t lh.Twins, not []diagnosis.LookAlike) *diagnosis.Proof {
	rest := lh.Others(t.Surplus, "")
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("InstanceManager", t.Surplus.Namespace, t.Surplus.Name), Says: "twins", State: []evidence.Answer{t.Are}, LookAlikes: not,
		With: words.Fields{"node": t.Waits.NodeID, "type": lh.OrNone(t.Surplus.Type), "surplus": t.Surplus.Name, "few": fmt.Sprint(rest), "keep": t.Keep.Name,
			"many": fmt.Sprint(lh.Others(t.Keep, "")), "kind": t.Waits.Kind, "instance": t.Waits.Name, "volume": pl.Volume.LH().Name},
		Steps: []remedy.Step{remedy.Words("Both run instances. Scale down the workloads whose engines or replicas one of them runs, and remove that one when its lists are empty.")},
	}
	if rest == 0 {
		p.Steps = []remedy.Step{remedy.DeleteInstanceManager(t.Surplus, ""), remedy.Words("Leave " + t.Keep.Name + " alone: it runs instances, which would end with it.")}
	}
	p.Object("im", t.Surplus.Name)
	p.Object("im", t.Keep.Name)
	p.At(t.Waits.NodeID)
	return p
}
