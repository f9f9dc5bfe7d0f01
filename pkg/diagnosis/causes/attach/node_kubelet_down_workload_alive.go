package attach

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NodeKubeletDownWorkloadAlive finds a node that looks dead in the API while the
// machine runs and uses the volume.
var NodeKubeletDownWorkloadAlive = &diagnosis.Rule{
	Name: "node-kubelet-down-workload-alive", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	LeadsTo: []string{"mount-of-dead-device", "device-mapped-on-other-node", "filesystem-readonly-after-error", "claim-in-use-rwop", "iscsi-login-rejected"},
	Asks:    diagnosis.EachVolume | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		lost := holder.KeptOn(pl.X, pl.Node)
		if pl.Volume != nil {
			lost = holder.LostNodes(pl.X, pl.Volume)
		}
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "/nodes"))}
		for _, l := range lost {
			if l.Holds() || len(l.Waiters) > 0 || len(holder.Going(l.Pods)) > 0 && !l.Replaced() { // else nobody is kept from it: what ails the kubelet is another question
				out = append(out, kubeletDown(pl, l))
			}
		}
		return out
	},
}

func kubeletDown(pl *evidence.Place, l holder.Lost) *diagnosis.Proof {
	life := holder.LifeOn(pl.X, l)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(l.Name), Says: "used",
		With: words.Fields{"silence": l.Silence(), "life": life.Said, "kubelet": life.Kubelet, "attached": l.Attached(), "waits": l.WhoWaits(), "node": l.Name},
		// What lives comes first: it is what nobody expects.
		State: []evidence.Answer{life.Alive, evidence.Yes(l.Facts()...).With(l.At.Facts...)},
		Last:  []evidence.Answer{life.Now, l.Silent()},
		Steps: []remedy.Step{remedy.Words("Repair the kubelet on node " + l.Name + ": start it, renew its certificate, free its disk, restore its way to the API server. " +
			"The old pod then ends normally and the volume moves by itself. Until then nothing may be detached, and no pod or node object removed by force: the disk is being written.")},
	}
	if !life.InUse {
		p.Says, p.AtMost = "runs", report.Likely
	}
	if life.InUse && !l.Suffers() { // the pod works on; of a moment of silence nothing is left afterwards
		p.Severity, p.Waiting = report.Degraded, !l.Quiet && pl.X.Age(l.Ready.Since) < time.Minute
	}
	p.Node(l.Name)
	p.Volume(l.Volume)
	p.Pods(l.Pods...)
	p.Pods(l.Waiters...)
	p.Attachment(l.At.VA)
	return p
}
