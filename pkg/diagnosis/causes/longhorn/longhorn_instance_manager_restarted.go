package longhorn

import (
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// InstanceManagerRestarted finds an instance-manager that was replaced under its engines.
var InstanceManagerRestarted = &diagnosis.Rule{
	Name: "longhorn-instance-manager-restarted", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Using, diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Serving, diagnosis.Unmounting},
	LeadsTo: []string{"iscsi-session-lost", "mount-of-dead-device", "longhorn-volume-faulted", "longhorn-remount-pending", "longhorn-share-manager-down",
		"longhorn-engine-record-stale", "longhorn-engine-orphaned", "crypt-mapper-stale", "filesystem-readonly-after-error"},
	Offers: []string{"delete-pod", "scale-to-0"},
	Asks:   diagnosis.EachVolume | diagnosis.EachSweptNode,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume == nil {
			return managersGone(pl)
		}
		return evidence.Each(lh.RestartsOf(pl), func(r lh.Restart) *diagnosis.Proof { return managerRestarted(pl, r) })
	},
}

func managerRestarted(pl *evidence.Place, r lh.Restart) *diagnosis.Proof {
	node := r.Manager.NodeID
	p := &diagnosis.Proof{
		Subject: report.Subject{Kind: "Pod", Namespace: r.Manager.Namespace, Name: r.Manager.Name, Node: node}, Says: "killed",
		With: words.Fields{"im": r.Manager.Name, "node": node, "at": r.At.UTC().Format(time.RFC3339), "ago": evidence.Duration(pl.X.Age(r.At)),
			"hit": fmt.Sprintf("%d volumes of the node were", len(r.Hit)), "connections": "", "why": r.Why},
		State: []evidence.Answer{r.Is()},
		Last:  []evidence.Answer{r.Sure()},
	}
	if len(r.Hit) == 1 {
		p.With["hit"] = "1 volume of the node was"
	}
	if r.Connections > 1 {
		p.With["connections"] = fmt.Sprint(r.Connections)
	}
	for _, v := range r.Hit {
		if !pl.IsAsked(v) {
			continue
		}
		p.Volume(v)
		for _, pod := range r.OlderPods(v) {
			p.Pod(pod)
			p.Steps = append(p.Steps, remedy.LetGo(pl.X, pod).Note("It started before the restart, so its mount is that of the old device."))
		}
	}
	cure := "Cure the reason: a higher podPidsLimit or reserved CPU and memory for the instance-manager, Longhorn's priority class (it needs detached volumes). Deleting an instance-manager that runs engines repeats the fault."
	if r.Booted {
		cure = "Find out why node " + node + " was booted (power, kernel, an update): the instance-manager ended with it and is no fault of its own."
	}
	p.Steps = append(p.Steps, remedy.Words(cure))
	p.Object("im", r.Manager.Name)
	p.At(node)
	return p
}

// managersGone is what no volume suffers from yet.
func managersGone(pl *evidence.Place) []*diagnosis.Proof {
	gone, facts := lh.Gone(pl.X, pl.Node)
	if gone == nil {
		return nil
	}
	return []*diagnosis.Proof{{
		Subject: report.Subject{Kind: "Pod", Namespace: gone.Namespace, Name: gone.Name, Node: pl.Node}, Says: "gone",
		With: words.Fields{"im": gone.Name, "node": pl.Node, "state": gone.CurrentState}, Severity: report.Risk, AtMost: report.Likely, Breaks: []diagnosis.Step{},
		State: []evidence.Answer{evidence.Yes(facts...)},
		Steps: []remedy.Step{remedy.Words("See why the pod ended, and what keeps Longhorn from a new one: pressure, a cordon, a taint, its image.")},
	}}
}
