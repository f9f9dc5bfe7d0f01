package symptom

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	evidencepods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
)

// podStuckTerminating: a pod is being deleted for longer than its grace.
var podStuckTerminating = &diagnosis.SymptomRule{Name: "pod-stuck-terminating", Run: func(p *diagnosis.Pass) {
	for _, i := range pods(p) {
		d := i.pod.DeletionTimestamp
		// deletionTimestamp is the end of the grace period already; the kubelet's
		// forced kill may take as long once more.
		if d == nil || p.Age(d.Time) <= grace(i.pod)+time.Minute {
			continue
		}
		s := &diagnosis.Symptom{Keys: i.keys(i.volumes), Subject: diagnosis.PodSubject(i.pod)}
		s.Message = fmt.Sprintf("%s is terminating since %s.", capital(podName(i.pod)), evidence.Duration(p.Age(d.Time)))
		object := "Pod " + i.pod.Namespace + "/" + i.pod.Name
		s.Evidence = append(s.Evidence, evidence.FromAPI(object, "metadata.deletionTimestamp", d.UTC().Format(time.RFC3339)))
		if len(i.pod.Finalizers) > 0 {
			s.Message += fmt.Sprintf(" It has finalizers: %v.", i.pod.Finalizers)
			s.Evidence = append(s.Evidence, evidence.FromAPI(object, "metadata.finalizers", fmt.Sprint(i.pod.Finalizers)))
		}
		if names, facts := evidencepods.HeldBy(p.Index, i.pod); len(names) > 0 {
			s.Message = fmt.Sprintf("%s, and process %s of node %s, which is none of its own, has files of its volumes open.", strings.TrimSuffix(s.Message, "."), strings.Join(names[:min(len(names), 3)], ", "), i.pod.Spec.NodeName)
			s.Evidence = append(s.Evidence, facts[:min(len(facts), 3)]...)
		}
		s.Pending = letsGo(p, i.pod)
		p.AddSymptom(s)
	}
}}

// grace is what the pod was given to end.
func grace(pod *corev1.Pod) time.Duration {
	if g := pod.DeletionGracePeriodSeconds; g != nil {
		return time.Duration(*g) * time.Second
	}
	return 30 * time.Second
}
