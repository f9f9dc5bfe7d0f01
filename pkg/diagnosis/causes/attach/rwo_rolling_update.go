package attach

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// RWORollingUpdate finds two pods of one Deployment that want one ReadWriteOnce volume, on two
// nodes or from a driver that gives it to one pod.
var RWORollingUpdate = &diagnosis.Rule{
	Name: "rwo-rolling-update", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching},
	LeadsTo: []string{"iscsi-login-rejected"},
	Offers:  []string{"strategy-recreate"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		rivals := evidence.Keep(holder.Rivals(pl), holder.Rival.OfDeployment)
		return evidence.Each(rivals, func(r holder.Rival) *diagnosis.Proof { return rollingUpdate(pl, r) })
	},
}

func rollingUpdate(pl *evidence.Place, r holder.Rival) *diagnosis.Proof {
	o := r.WaiterOwner
	ns, name := pl.Volume.ClaimRef()
	d := holder.DeadlockOf(pl.X, o)
	then := "The volume then moves to node " + r.Waiter.Spec.NodeName
	if r.Together() {
		then = "Pod " + pods.Name(r.Waiter) + " then gets the volume"
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Deployment", o.Namespace, o.Name), Says: d.Says,
		With: words.Fields{"deployment": o.Namespace + "/" + o.Name, "strategy": d.Strategy, "volume": volume.Name(pl.Volume), "holder": pods.Name(r.Holder),
			"holds": pods.Where(pl.X, r.Holder), "wants": pods.Where(pl.X, r.Waiter)},
		State: []evidence.Answer{evidence.Yes(append(pods.States([]*corev1.Pod{r.Holder, r.Waiter}),
			evidence.FromAPI("PersistentVolumeClaim "+ns+"/"+name, "spec.accessModes", "ReadWriteOnce"))...)},
		Last: []evidence.Answer{r.Held.With(holder.RefusedTo(pl, r.Waiter)...), r.OwnersKnown(pl.X), d.Is},
		Steps: []remedy.Step{
			remedy.Recreate(o, r.Holder).Note("%s.", then),
			remedy.Words("For good without that downtime: move the data to a ReadWriteMany volume. Do not detach by hand and do not force anything: pod " + pods.Name(r.Holder) + " has the disk."),
		},
	}
	if d.Says == "several" {
		p.AtMost = report.Likely
	}
	if !pl.Volume.AttachRequired(pl.X) { // who mounts it is the one that refuses
		p.Breaks = []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing}
	}
	if r.Together() {
		p.Says, p.Breaks = "together", []diagnosis.Step{diagnosis.Publishing}
	}
	p.Pod(r.Waiter)
	p.Spares = []*corev1.Pod{r.Holder}
	p.At(r.Waiter.Spec.NodeName)
	p.At(r.Holder.Spec.NodeName)
	return p
}
