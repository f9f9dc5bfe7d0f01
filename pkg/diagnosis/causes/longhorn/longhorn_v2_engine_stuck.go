package longhorn

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// V2EngineStuck finds a v2 volume whose data path does not come back after a restart.
var V2EngineStuck = &diagnosis.Rule{
	Name: "longhorn-v2-engine-stuck", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Offers:   []string{"delete-pod", "scale-to-0"},
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Serving, diagnosis.Publishing, diagnosis.Using, diagnosis.Detaching},
	LeadsTo:  []string{"mount-of-dead-device", "longhorn-share-manager-down"},
	YieldsTo: []string{"longhorn-v2-memory-short", "longhorn-instance-manager-stuck", "longhorn-control-plane-down", "longhorn-replica-unschedulable", "longhorn-disk-unusable", "longhorn-volume-faulted", "kernel-module-missing"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if !lh.IsV2(v) {
			return nil
		}
		i, ok := lh.InitiatorOf(pl.X, pl.Volume)
		if !ok || pl.Node != i.Node && pl.Node != v.Status.CurrentNodeID {
			return nil
		}
		return []*diagnosis.Proof{v2Stuck(pl, v, i)}
	},
}

func v2Stuck(pl *evidence.Place, v *snapshot.LHVolume, i lh.Initiator) *diagnosis.Proof {
	what, broken := i.PathBroken(pl, v)
	restarted := lh.RestartedSince(pl)
	var pods []string
	var users []*corev1.Pod
	for _, c := range pl.Volume.Running() {
		if c.Node() == pl.Node {
			pods, users = append(pods, c.Pod.Namespace+"/"+c.Pod.Name), append(users, c.Pod)
		}
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: "seen",
		With:  words.Fields{"volume": v.Name, "node": pl.Node, "state": v.Status.State, "what": what, "pods": words.List(pods, 3)},
		State: []evidence.Answer{i.Hangs(pl, v), broken.With(restarted.Facts()...)},
		Steps: []remedy.Step{remedy.Check("See what the engine says, and the first error of the v2 instance-manager after its start.",
			remedy.Kubectl("-n", v.Namespace, "get", i.Resource, i.Name, "-o", "jsonpath={.status}"),
			remedy.Kubectl(append([]string{"-n", v.Namespace, "logs", "--tail=200"}, i.Pods()...)...))},
	}
	if broken.Unseen() {
		p.Says, p.State = "unseen", []evidence.Answer{p.State[0].With(i.Fails(pl.X, v).Facts()...), restarted}
		p.Last = []evidence.Answer{broken}
		if restarted.No() {
			p.AtMost, p.State = report.Possible, p.State[:1]
		}
	}
	if broken.No() {
		// Nothing of the path is on the node: the new engine fails before it makes one.
		p.Says, p.State, p.AtMost = "fails", []evidence.Answer{p.State[0], i.NoTrace(pl, v), i.Fails(pl.X, v).With(restarted.Facts()...)}, report.Possible
		if restarted.Yes() {
			p.AtMost = report.Likely
		}
	}
	for _, pod := range users {
		p.Steps = append(p.Steps, remedy.LetGo(pl.X, pod).Note("It still has the old device mounted on node %s; a map that is in use cannot be replaced.", pl.Node))
	}
	p.Steps = append(p.Steps, remedy.Words("When nothing has it mounted any more and it does not go by itself: restart the v2 instance-manager of the node while all v2 volumes of the node are detached, or drain and restart the node. Replicas and file system are not at fault: leave both alone."))
	return p
}
