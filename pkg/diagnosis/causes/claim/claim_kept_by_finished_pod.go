package claim

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ClaimKeptByFinishedPod finds a claim that stays Terminating because finished pods name it.
var ClaimKeptByFinishedPod = &diagnosis.Rule{
	Name: "claim-kept-by-finished-pod", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning},
	Offers: []string{"delete-pod"},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c := pl.Volume.Claim
		if c == nil || claims.Protected(c).No() {
			return nil
		}
		names, named := claims.NamedByFinished(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name),
			With:    words.Fields{"claim": c.Namespace + "/" + c.Name, "age": evidence.Duration(pl.X.Age(c.DeletionTimestamp.Time)), "pods": words.List(names, 6)},
			State:   []evidence.Answer{claims.Protected(c), named},
			Last:    []evidence.Answer{claims.NoOtherUser(pl), claims.OnlyProtection(c)},
			Waiting: claims.AllExpire(pl.X, pl.Volume),
		}
		p.Users(append(pl.Volume.Finished(), pl.Volume.Live()...)...)
		p.Steps = keptSteps(pl, p.Waiting)
		return []*diagnosis.Proof{p}
	},
}

func keptSteps(pl *evidence.Place, expire bool) []remedy.Step {
	v := pl.Volume
	if expire {
		return []remedy.Step{remedy.Words("Wait: the Jobs of these pods have ttlSecondsAfterFinished, so their controller removes them, and the claim goes then.")}
	}
	policy := ""
	if len(v.Live()) > 0 {
		policy = " The claim must be made anew for the pod that waits: its volume goes with it or stays with its data, as the reclaim policy says."
	}
	if v.PV != nil && v.PV.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		policy += " Its volume has the reclaim policy Delete: the data go with the claim."
	}
	out := []remedy.Step{remedy.Words("Save the logs of the finished pods that are still wanted." + policy + " The finalizer goes by itself.")}
	for _, k := range claims.Left(v) {
		out = append(out, remedy.DeleteFinishedPod(k.Pod))
	}
	return out
}
