package claim

import (
	_ "embed"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed wffc_bypassed_by_nodename.md
var wffcBypassedByNodenameDoc string

// WFFCBypassedByNodename finds a pod with a nodeName of its author, whose claim waits
// for a scheduler that never sees it.
var WFFCBypassedByNodename = &diagnosis.Rule{
	Name: "wffc-bypassed-by-nodename", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("storage.k8s.io/storageclasses")},
	Explains: []string{"claim-pending", "pod-waiting-for-volume"},
	Offers:   []string{"delete-pod"},
	Doc:      wffcBypassedByNodenameDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if waitsForConsumer(v) {
				bypassed(p, v)
			}
		}
	},
}

const selectedNode = "volume.kubernetes.io/selected-node"

func waitsForConsumer(v *snapshot.Volume) bool {
	return v.Claim != nil && v.Claim.Status.Phase == corev1.ClaimPending && v.Claim.Spec.VolumeName == "" &&
		v.Claim.Annotations[selectedNode] == "" && v.Class != nil && v.Class.VolumeBindingMode != nil &&
		*v.Class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

func bypassed(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, w := range v.Waiting() {
		if w.Pod.Spec.NodeName == "" || scheduled(p, w.Pod) || p.Age(w.Pod.CreationTimestamp.Time) < time.Minute {
			return // a scheduler is at work, or the pod is young
		}
	}
	for _, w := range v.Waiting() {
		f := p.Find(report.Certain, diagnosis.PodSubject(w.Pod)).On(v)
		f.Pod(w.Pod)
		f.Sayf("Pod %s/%s was created with spec.nodeName %s, so no scheduler ever chose a node for it. Claim %s has the class %s, which waits for a scheduler to write the selected node: both wait for each other.",
			w.Pod.Namespace, w.Pod.Name, w.Pod.Spec.NodeName, v.Claim.Name, v.Class.Name)
		switch where, written := authored(p, w.Pod); {
		case written:
			f.Fact(where)
		case where.Locator != "":
			f.Fact(where)
			f.Missing("who set nodeName: the template of " + p.TopOwner(w.Pod).String() + " has none")
		default:
			f.Missing("the template of " + p.TopOwner(w.Pod).String() + ", which should have the nodeName")
		}
		f.Fact(
			diagnosis.FromAPI("Pod "+w.Pod.Namespace+"/"+w.Pod.Name, "spec.nodeName", w.Pod.Spec.NodeName),
			diagnosis.FromAPI("PersistentVolumeClaim "+v.Claim.Namespace+"/"+v.Claim.Name, "metadata.annotations["+selectedNode+"]", "absent"),
			diagnosis.FromAPI("StorageClass "+v.Class.Name, "volumeBindingMode", "WaitForFirstConsumer"),
		)
		f.Unless("a Scheduled event of the pod, or the annotation on the claim")
		f.Advise(
			remedy.Words("Replace nodeName by a nodeSelector (kubernetes.io/hostname: "+w.Pod.Spec.NodeName+") or node affinity in the manifest of the pod or its template."),
			remedy.DeletePod(w.Pod).Note("After its manifest was changed: it waits and uses nothing."),
			remedy.Words("In an emergency the annotation "+selectedNode+": "+w.Pod.Spec.NodeName+" on claim "+v.Claim.Namespace+"/"+v.Claim.Name+" does what the scheduler would have done. Verify: the claim becomes Bound."),
		)
		p.Report(f)
	}
}

// authored finds the nodeName where a person wrote it: in the bare pod's own spec, or in
// the template of the controller that made the pod. No locator: it was not collected.
func authored(p *diagnosis.Pass, pod *corev1.Pod) (where report.Evidence, written bool) {
	if !snapshot.HasController(pod) {
		return diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "metadata.ownerReferences", "none"), true
	}
	o := p.TopOwner(pod)
	var node string
	switch x := o.Object.(type) {
	case *appsv1.Deployment:
		node = x.Spec.Template.Spec.NodeName
	case *appsv1.ReplicaSet:
		node = x.Spec.Template.Spec.NodeName
	case *appsv1.StatefulSet:
		node = x.Spec.Template.Spec.NodeName
	case *appsv1.DaemonSet:
		node = x.Spec.Template.Spec.NodeName
	case *batchv1.Job:
		node = x.Spec.Template.Spec.NodeName
	case *batchv1.CronJob:
		node = x.Spec.JobTemplate.Spec.Template.Spec.NodeName
	default:
		return report.Evidence{}, false
	}
	text := node
	if node == "" {
		text = "absent"
	}
	return diagnosis.FromAPI(o.String(), "spec.template.spec.nodeName", text), node != ""
}

// scheduled tells whether a scheduler had to do with the pod: its event, or, where
// nobody is known to have written the nodeName, a condition that changed after the pod
// was created.
func scheduled(p *diagnosis.Pass, pod *corev1.Pod) bool {
	for _, e := range p.Events("Pod", pod.Namespace, pod.Name) {
		if e.Reason == "Scheduled" || e.Reason == "FailedScheduling" {
			return true
		}
	}
	if _, written := authored(p, pod); written && snapshot.HasController(pod) {
		return false
	}
	const second = 2 * time.Second // the API cuts times to whole seconds
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.LastTransitionTime.After(pod.CreationTimestamp.Add(second))
		}
	}
	return false
}
