package claim

import (
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ConsumerUnschedulable finds a claim that waits for its first consumer, and a consumer
// that waits for a node for a reason of its own.
var ConsumerUnschedulable = &diagnosis.Rule{
	Name: "consumer-unschedulable", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning},
	YieldsTo: []string{"topology-conflict", "attach-limit-exceeded", "claim-in-use-rwop", "claim-volume-mismatch", "csi-plugin-not-on-node",
		"driver-never-serves-node", "wffc-bypassed-by-nodename"},
	Asks: diagnosis.EachVolume,
	Docs: docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		late := claims.WaitsForConsumer(pl)
		if late.No() {
			return nil
		}
		var out []*diagnosis.Proof
		all := []evidence.Answer{late}
		for _, w := range pl.Volume.Waiting() { // one that has a node is the one that counts
			all = append(all, evidence.When(w.Pod.Spec.NodeName == ""))
		}
		for _, w := range pl.Volume.Waiting() {
			out = append(out, unschedulable(pl, w, slices.Clip(all)))
		}
		return out
	},
}

func unschedulable(pl *evidence.Place, w *snapshot.Consumer, all []evidence.Answer) *diagnosis.Proof {
	ns, claim := pl.Volume.ClaimRef()
	placing := pods.PlacingOf(pl, w.Pod)
	all = append(all, evidence.When(!pods.Young(pl.X, w.Pod, time.Minute)))
	p := &diagnosis.Proof{
		Subject: diagnosis.PodSubject(w.Pod),
		With: words.Fields{"claim": ns + "/" + claim, "pod": w.Pod.Namespace + "/" + w.Pod.Name, "words": placing.Words, "resource": words.List(placing.Unoffered, 2),
			"gates": words.List(placing.Gates, 3), "scheduler": pods.SchedulerOf(w.Pod), "nodes": words.List(pods.KeptOff(pl.X, w.Pod), 4)},
		Waiting: pods.ScalingUp(pl.X, w.Pod),
	}
	switch silent := placing.Silent(pl, w.Pod); {
	case placing.ByVolume().Yes() && !placing.Mixed():
		return nil
	case placing.ByVolume().Yes():
		p.Says, p.AtMost = "words", report.Possible
		p.State = append(all, placing.Unplaced(w.Pod))
	case silent.Yes():
		p.Says, p.AtMost = "silent", report.Likely
		p.State = append(all, silent)
	case len(placing.Gates) > 0:
		p.Says, p.Waiting = "gated", true // held on purpose, by whoever set the gate
		p.State = append(all, placing.Unplaced(w.Pod))
	default:
		p.Says = "words"
		if len(placing.Unoffered) > 0 {
			p.Says = "unoffered"
		}
		p.State, p.Last = append(all, placing.Unplaced(w.Pod)), []evidence.Answer{placing.ByNodes()}
	}
	p.Steps, p.Last = remedy.GetNode(p.Says, w.Pod, pods.SchedulerOf(w.Pod)), append(p.Last, pl.Consumers().Nothing()) // another pod may have a node
	p.Keys.Pod(w.Pod)
	return p
}
