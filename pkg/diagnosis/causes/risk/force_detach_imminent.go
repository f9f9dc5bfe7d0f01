package risk

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/detach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ForceDetachImminent finds nodes that may live while Kubernetes is about to take, or
// takes at once, their volumes away.
var ForceDetachImminent = &diagnosis.Rule{
	Name: "force-detach-imminent", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	LeadsTo: []string{"mount-of-dead-device", "device-mapped-on-other-node", "filesystem-needs-fsck"},
	Asks:    diagnosis.EachNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		x, node := pl.X, pl.Node
		attached, free := detach.To(x, node)
		said, lives := detach.Lives(x, node)
		list, sign, p := free, "the machine lives: "+said, &diagnosis.Proof{Subject: diagnosis.NodeSubject(node)}
		switch reports := detach.Reports(x, node); {
		case detach.DeclaredOff(x, node).Yes():
			if list, p.Says = attached, "taint"; reports.Yes() {
				sign = "it reports that it is Ready"
			}
			p.State = []evidence.Answer{attached.Any(x), detach.DeclaredOff(x, node), evidence.Any(reports, lives)}
			p.Steps = []remedy.Step{remedy.Words("Take the taint off now: " + remedy.Inline("kubectl", "taint", "node", node, "node.kubernetes.io/out-of-service-") + ". It belongs only on machines that are known to be off, until they come back.")}
		case reports.Yes():
			list, p.Says, p.AtMost = free.Unmounted(x, node), "old", report.Likely
			p.State = []evidence.Answer{list.Any(x), detach.SparesNobody(x)}
			p.Steps = []remedy.Step{remedy.Words("Find what keeps the volume mounted on " + node + " before the time is up; the kubelet then unmounts it by itself.")}
		default:
			p.Says, p.Last = "clock", []evidence.Answer{lives}
			p.State = []evidence.Answer{free.Any(x), detach.Silent(x, node), evidence.Not(detach.Disabled(x))}
			if !lives.Yes() { // shown off: nobody there can write
				p.State = append(p.State, evidence.Not(detach.ShownOff(x, node)))
			}
			p.Steps = []remedy.Step{remedy.Words("Bring the kubelet of " + node + " back, or power the machine off, before the time is up. Whoever writes there afterwards damages the filesystem.")}
		}
		if p.Says != "taint" {
			pods, claims := detach.Unneeded(x)
			p.State, p.Last = append(p.State, pods), append(p.Last, claims)
		}
		for _, a := range list {
			p.Volume(a.Volume)
			p.Object("va", a.Attachment.Name)
		}
		p.With = words.Fields{"node": node, "volumes": words.List(list.Names(), 5), "life": said, "sign": sign, "left": list.Left(x), "server": x.Server}
		return []*diagnosis.Proof{p}
	},
}
