package longhorn

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// RemountPending finds a pod that still uses the device from before the engine died.
var RemountPending = &diagnosis.Rule{
	Name: "longhorn-remount-pending", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using},
	LeadsTo: []string{"mount-of-dead-device"},
	Offers:  []string{"delete-pod", "scale-to-0"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, c := range pl.Volume.Running() {
			if r, ok := lh.RemountOf(pl, c.Pod); ok {
				out = append(out, remountPending(pl, c.Pod, r))
			}
		}
		return out
	},
}

func remountPending(pl *evidence.Place, pod *corev1.Pod, r lh.Remount) *diagnosis.Proof {
	v := pl.Volume.LH()
	why, blocked := r.Blocker()
	p := &diagnosis.Proof{
		Subject: diagnosis.PodSubject(pod),
		With: words.Fields{"volume": v.Name, "at": r.At, "after": evidence.Duration(r.Asked.Sub(r.Started)),
			"pod": pod.Namespace + "/" + pod.Name, "state": lh.Condition(v), "why": why},
		State:      []evidence.Answer{r.Older()},
		Last:       []evidence.Answer{blocked},
		LookAlikes: []diagnosis.LookAlike{{Cause: "an NFS client that recovers by itself", Is: r.Recovers()}, {Cause: "a pod that its node started again, with a new mount", Is: r.Renewed()}},
	}
	switch ago, soon := r.Soon(); {
	case soon && !blocked.Yes():
		p.Waiting, p.Last = true, nil
		p.With["why"] = fmt.Sprintf("Longhorn asked for it %d seconds ago and is about to recreate the pod itself", int(ago.Seconds()))
		p.Steps = []remedy.Step{remedy.Words("Wait until the pod has been recreated (under a minute). No step is needed.")}
	case v.Status.State != "attached":
		p.Steps = []remedy.Step{remedy.Words("First bring the volume back, which is " + lh.Condition(v) + " now; a new pod has nothing to mount before that.")}
	case r.Unmanaged():
		p.Steps = []remedy.Step{remedy.Words("First bring the longhorn-manager on node " + pod.Spec.NodeName + " back: it recreates the pod itself then, and a new pod there has nobody to mount its volume before that.")}
	default:
		p.Steps = []remedy.Step{
			remedy.LetGo(pl.X, pod).Note("It is the one that still has the old mount."),
			remedy.Words("Then find out why the engine died: instance-manager restarts, network, replica nodes at " + r.At + "."),
		}
	}
	p.Pod(pod)
	p.At(pod.Spec.NodeName)
	return p
}
