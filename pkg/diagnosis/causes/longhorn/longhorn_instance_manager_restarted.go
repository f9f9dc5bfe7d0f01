package longhorn

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// InstanceManagerRestarted finds one that was replaced under its engines, or does not run.
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
		out := evidence.Each(lh.RestartsOf(pl), func(r lh.Restart) *diagnosis.Proof { return managerRestarted(pl, r) })
		if im, missed := lh.Missed(pl); im != nil {
			out = append(out, notRunning(pl, im, "missed", pl.Volume.LH().Name, missed))
		}
		return out
	},
}

func managerRestarted(pl *evidence.Place, r lh.Restart) *diagnosis.Proof {
	node := r.Manager.NodeID
	p := &diagnosis.Proof{
		Subject: report.Subject{Kind: "Pod", Namespace: r.Manager.Namespace, Name: r.Manager.Name, Node: node}, Says: "killed",
		With: words.Fields{"im": r.Manager.Name, "node": node, "at": r.At.UTC().Format(time.RFC3339), "ago": evidence.Duration(pl.X.Age(r.At)),
			"hit": r.Volumes(), "connections": r.Broken(), "why": r.Why},
		State: []evidence.Answer{r.Is()}, Last: []evidence.Answer{r.Sure()},
	}
	for _, v := range evidence.Keep(r.Hit, pl.IsAsked) {
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

// notRunning is an instance-manager that does not run.
func notRunning(pl *evidence.Place, im *snapshot.LHInstanceManager, says, volume string, away evidence.Answer) *diagnosis.Proof {
	return &diagnosis.Proof{
		Subject: report.Subject{Kind: "Pod", Namespace: im.Namespace, Name: im.Name, Node: im.NodeID}, Says: says,
		With:  words.Fields{"im": im.Name, "node": im.NodeID, "state": im.CurrentState, "pod": lh.PodWords(pl.X, im), "volume": volume},
		State: []evidence.Answer{away},
		Steps: []remedy.Step{remedy.Words("See why the pod ended, and what keeps Longhorn from a new one: pressure, a cordon, a taint, its image, its network, a CPU request that the node has no room for.")},
	}
}

// managersGone is what no volume suffers from yet.
func managersGone(pl *evidence.Place) []*diagnosis.Proof {
	if gone, facts := lh.Gone(pl.X, pl.Node); gone != nil {
		p := notRunning(pl, gone, "gone", "", evidence.Yes(facts...))
		p.Severity, p.AtMost, p.Breaks = report.Risk, report.Likely, []diagnosis.Step{}
		return []*diagnosis.Proof{p}
	}
	return nil
}
