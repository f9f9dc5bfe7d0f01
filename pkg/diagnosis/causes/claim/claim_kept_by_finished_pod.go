package claim

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed claim_kept_by_finished_pod.md
var claimKeptByFinishedPodDoc string

// ClaimKeptByFinishedPod finds a claim that stays Terminating because finished pods name it.
var ClaimKeptByFinishedPod = &diagnosis.Rule{
	Name: "claim-kept-by-finished-pod", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods")},
	Explains: []string{"pod-waiting-for-volume", "claim-pending"},
	Offers:   []string{"delete-pod"},
	Doc:      claimKeptByFinishedPodDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			c := v.Claim
			if c == nil || c.DeletionTimestamp == nil || !slices.Contains(c.Finalizers, pvcProtection) {
				continue
			}
			if len(v.Finished()) > 0 && !slices.ContainsFunc(v.Live(), func(k *snapshot.Consumer) bool { return k.Node() != "" || !k.Waiting() }) {
				keptByFinished(p, v)
			}
		}
	},
}

// pvcProtection keeps a claim while a pod names it (pkg/volume/util/finalizer.go).
const pvcProtection = "kubernetes.io/pvc-protection"

func keptByFinished(p *diagnosis.Pass, v *snapshot.Volume) {
	c := v.Claim
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	var names []string
	for _, k := range v.Live() {
		// The protection counts only pods that have a node (pvc_protection_controller.go).
		f.Pod(k.Pod)
		f.Missing("that pod " + k.Pod.Namespace + "/" + k.Pod.Name + ", which waits for the claim and has no node, does not keep it, too")
	}
	for _, k := range v.Finished() {
		f.Pod(k.Pod)
		o := p.TopOwner(k.Pod)
		who := k.Pod.Name + " (" + string(k.Pod.Status.Phase)
		if !o.Pod {
			who += ", " + o.Kind + " " + o.Name
		}
		names = append(names, who+")")
		f.Fact(diagnosis.FromAPI("Pod "+k.Pod.Namespace+"/"+k.Pod.Name, "status.phase", string(k.Pod.Status.Phase)))
	}
	f.Sayf("Claim %s/%s has been Terminating for %s. Nothing runs with it any more, but finished pods still name it, and its protection finalizer stays as long as their objects do: %s.",
		c.Namespace, c.Name, diagnosis.Duration(p.Age(c.DeletionTimestamp.Time)), strings.Join(names, ", "))
	f.Fact(diagnosis.FromAPI("PersistentVolumeClaim "+c.Namespace+"/"+c.Name, "metadata.finalizers", strings.Join(c.Finalizers, " ")))
	f.Unless("a pod in phase Pending or Running that names the claim")
	for _, other := range c.Finalizers {
		if other != pvcProtection {
			f.Missing("that the finalizer " + other + " of another controller goes by itself")
		}
	}
	if f.Waiting = allExpire(p, v); f.Waiting {
		f.Advise(remedy.Words("Wait: the Jobs of these pods have ttlSecondsAfterFinished, so their controller removes them, and the claim goes then."))
		p.Report(f)
		return
	}
	policy := ""
	if len(v.Live()) > 0 {
		policy = " The claim must be made anew for the pod that waits: its volume goes with it or stays with its data, as the reclaim policy says."
	}
	if v.PV != nil && v.PV.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		policy += " Its volume has the reclaim policy Delete: the data go with the claim."
	}
	f.Advise(remedy.Words("Save the logs of the finished pods that are still wanted." + policy + " The finalizer goes by itself."))
	for _, k := range v.Finished() {
		f.Advise(remedy.DeleteFinishedPod(k.Pod))
	}
	p.Report(f)
}

// allExpire tells whether every finished pod belongs to a Job that is removed by itself
// a while after its end, and the time has not long run out.
func allExpire(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, k := range v.Finished() {
		if !slices.ContainsFunc(p.Cluster.Jobs, func(j *batchv1.Job) bool {
			return metav1.IsControlledBy(k.Pod, j) && j.Spec.TTLSecondsAfterFinished != nil && j.Status.CompletionTime != nil &&
				p.Age(j.Status.CompletionTime.Time) < time.Duration(*j.Spec.TTLSecondsAfterFinished)*time.Second+time.Minute
		}) {
			return false
		}
	}
	return true
}
