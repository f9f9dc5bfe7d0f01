package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// WFFCBypassedByNodename finds a pod with a nodeName of its author, whose claim waits
// for a scheduler that never sees it.
var WFFCBypassedByNodename = &diagnosis.Rule{
	Name: "wffc-bypassed-by-nodename", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning},
	Offers: []string{"delete-pod"},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		waits := claims.WaitsForConsumer(pl)
		if waits.No() {
			return nil
		}
		var out []*diagnosis.Proof
		for _, w := range pl.Volume.Waiting() {
			pod, c := w.Pod, pl.Volume.Claim
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pod),
				With:    words.Fields{"pod": pod.Namespace + "/" + pod.Name, "node": w.Node(), "claim": c.Name, "class": className(pl)},
				State:   []evidence.Answer{waits, claims.Bypassed(pl)},
				Last:    []evidence.Answer{claims.Authored(pl.X, pod), pl.Consumers().Nothing()},
				Steps: []remedy.Step{
					remedy.Words("Replace nodeName by a nodeSelector (kubernetes.io/hostname: " + w.Node() + ") or node affinity in the manifest of the pod or its template."),
					remedy.DeletePod(pod).Note("After its manifest was changed: it waits and uses nothing."),
					remedy.Words("In an emergency the annotation " + snapshot.SelectedNode + ": " + w.Node() + " on claim " + c.Namespace + "/" + c.Name + " does what the scheduler would have done. Verify: the claim becomes Bound."),
				},
			}
			p.Pod(pod)
			out = append(out, p)
		}
		return out
	},
}

func className(pl *evidence.Place) string {
	if pl.Volume.Class == nil {
		return ""
	}
	return pl.Volume.Class.Name
}
