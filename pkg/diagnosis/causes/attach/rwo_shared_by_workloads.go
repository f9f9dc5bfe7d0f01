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

// RWOSharedByWorkloads finds two workloads on two nodes that use one
// ReadWriteOnce claim.
var RWOSharedByWorkloads = &diagnosis.Rule{
	Name: "rwo-shared-by-workloads", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching},
	LeadsTo: []string{"iscsi-login-rejected"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		rivals := evidence.Keep(holder.Rivals(pl), func(r holder.Rival) bool { return !r.OfDeployment() })
		return evidence.Each(rivals, func(r holder.Rival) *diagnosis.Proof { return sharedClaim(pl, r) })
	},
}

func sharedClaim(pl *evidence.Place, r holder.Rival) *diagnosis.Proof {
	ns, name := pl.Volume.ClaimRef()
	claim := ns + "/" + name
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", ns, name), Says: "two",
		With: words.Fields{"claim": claim, "volume": volume.Name(pl.Volume), "holder": pods.Name(r.Holder), "node": r.Holder.Spec.NodeName,
			"holds": pods.Where(pl.X, r.Holder), "wants": pods.Where(pl.X, r.Waiter), "owner": holder.OwnerWords(r.HolderOwner), "other": holder.OwnerWords(r.WaiterOwner)},
		State: []evidence.Answer{evidence.Yes(append(pods.States([]*corev1.Pod{r.Holder, r.Waiter}),
			evidence.FromAPI("PersistentVolumeClaim "+claim, "spec.accessModes", "ReadWriteOnce"))...)},
		Last: []evidence.Answer{r.Held.With(holder.RefusedTo(pl, r.Waiter)...), r.OwnersKnown(pl.X)},
	}
	if r.SameOwner() {
		p.Says, p.AtMost, p.Last = "one", report.Likely, p.Last[:1]
	}
	where := "Put both pods on one node (pod affinity: ReadWriteOnce means one node, not one pod), let them take turns, "
	if !pl.Volume.AttachRequired(pl.X) { // who mounts it is the one that refuses
		p.Breaks = []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing}
	}
	if r.Together() {
		p.Breaks = []diagnosis.Step{diagnosis.Publishing}
		p.Says, where = "together", "Let the pods take turns, use a class whose driver shares a volume on one node (of OpenEBS: the parameter shared), "
	}
	p.Pod(r.Waiter)
	p.Spares = []*corev1.Pod{r.Holder}
	p.At(r.Waiter.Spec.NodeName)
	p.At(r.Holder.Spec.NodeName)
	if k := r.HolderOwner.Kind; k == "Job" || k == "CronJob" {
		p.Steps = append(p.Steps, remedy.Words("Wait: pod "+pods.Name(r.Holder)+" belongs to a "+k+" and ends by itself; the volume moves when it has finished."))
	}
	p.Steps = append(p.Steps, remedy.Words(where+"or move the data to a ReadWriteMany volume. "+
		"Do not detach by hand and do not force anything: pod "+pods.Name(r.Holder)+" has the disk."))
	return p
}
