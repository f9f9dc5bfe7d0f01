package claim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ClaimInUseRWOP finds a second pod for a claim that only one pod may use.
var ClaimInUseRWOP = &diagnosis.Rule{
	Name: "claim-in-use-rwop", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Publishing}, // between two nodes the attachment is refused first
	Offers: []string{"delete-pod", "strategy-recreate"},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c := pl.Volume.Claim
		if c == nil || claims.SinglePod(c).No() {
			return nil
		}
		for _, w := range pl.Volume.Waiting() {
			h, used := claims.UserBeside(pl, w.Pod)
			if h == nil {
				continue
			}
			p := &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name),
				With:    words.Fields{"claim": c.Namespace + "/" + c.Name, "user": h.Name, "why": claims.StillThere(pl.X, h), "pod": w.Pod.Name},
				State:   []evidence.Answer{claims.SinglePod(c), used},
				Steps:   append(inUseSteps(pl.X, w.Pod, h), remedy.Words("The access mode of a bound volume is not changed as a quick fix: when two pods must share the data, copy them to a volume with another mode.")),
			}
			p.Pod(w.Pod)
			p.Pod(h)
			p.Spares = []*corev1.Pod{h}
			p.At(h.Spec.NodeName)
			return []*diagnosis.Proof{p}
		}
		return nil
	},
}

func inUseSteps(x *snapshot.Index, w, h *corev1.Pod) []remedy.Step {
	hOwner, wOwner := holder.OwnerOf(x, h), holder.OwnerOf(x, w)
	switch {
	case h.DeletionTimestamp != nil:
		return []remedy.Step{remedy.Words(fmt.Sprintf("Wait until pod %s has ended; then %s starts by itself. If it stays, look for what holds it on node %s (a container that does not stop, an unmount that fails, a finalizer).", h.Name, w.Name, h.Spec.NodeName))}
	case hOwner.Kind == "Deployment" && hOwner.String() == wOwner.String():
		return []remedy.Step{remedy.Recreate(hOwner, h)}
	case hOwner.Pod || !wOwner.Pod && hOwner.String() == wOwner.String():
		return []remedy.Step{
			remedy.Words("Let the workload end the old pod before it starts the new one: strategy Recreate, or a StatefulSet with one replica."),
			remedy.DeletePod(h).Note("It is the one that uses the claim, and what it does ends with it."),
		}
	}
	return []remedy.Step{
		remedy.Words(fmt.Sprintf("Two workloads want the claim: %s and %s. Scale down the one that shall not have it now, or give it a claim of its own.", hOwner, wOwner)),
		remedy.DeletePod(h).Note("It is the one that uses the claim; %s makes it anew, and then it waits behind pod %s or takes the claim again.", hOwner, w.Name),
	}
}
