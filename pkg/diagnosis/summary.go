package diagnosis

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// summary is the answer in one sentence.
func (p *Pass) summary(roots []*Finding, r *report.Report) string {
	if r.Error != "" {
		return "The question cannot be answered: " + r.Error + "."
	}
	if len(roots) > 0 {
		return summaryOfRoot(roots)
	}
	switch {
	case len(r.Unexplained) > 0:
		return summaryOfSymptom(r)
	case p.unconsumed() != "":
		return fmt.Sprintf("The claim waits for its first consumer: class %s makes the volume when a pod that uses the claim is scheduled.", p.unconsumed())
	case r.Verdict == report.Waiting && p.pending() != "":
		return p.pending()
	case r.Verdict == report.Waiting && p.beingMade():
		return fmt.Sprintf("The claim is not bound since %s, which is not long yet.", evidence.Duration(p.Age(p.unmade().CreationTimestamp.Time)))
	case r.Verdict == report.Waiting:
		return "A pod has just been created and is still within the time that attaching and mounting take; nothing is wrong yet."
	case r.Verdict == report.UnknownState && p.unready() != "":
		return p.unready()
	case r.Verdict == report.UnknownState:
		return strings.TrimSpace(fmt.Sprintf("No cause was found, but %s could not be checked. %s", count(len(r.NotChecked), "thing", "things"), p.otherwise("")))
	}
	if s := p.otherwise(" for another reason"); s != "" {
		return "Nothing is wrong with the volumes. " + s
	}
	return report.NothingFound
}

// unready says that the node of the question is not Ready, where nothing else is wrong with it.
func (p *Pass) unready() string {
	l, is := holder.Unready(p.Index, p.Question.Name)
	if p.Question.Kind != "node" || !is {
		return ""
	}
	return l.Silence() + ". No volume is known to suffer from it."
}

// otherwise says of a pod that does not run although nothing is wrong with its volumes what
// else keeps it, than names what it is not: the scheduler's word, or what its container waits for.
func (p *Pass) otherwise(than string) string {
	if p.Sweep() {
		return ""
	}
	for _, pod := range p.pods() {
		why := ""
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
				why = "it is not scheduled (" + c.Message + ")"
			}
		}
		if why == "" && pod.Spec.NodeName == "" && pod.Status.Phase == corev1.PodPending {
			why = "it has no node, and no scheduler says why (it asks for " + pods.SchedulerOf(pod) + ")"
		}
		if why == "" {
			if why = pods.Waits(p.Index, pod); why != "" {
				why += pods.Unread(p.Index, pod)
			}
		}
		if why == "" && pod.Status.Phase == corev1.PodPending && pods.Unbegun(pod) != "" {
			why = "its container " + pods.Unbegun(pod) + " is not made yet" + p.saidOfContainers(pod)
		}
		if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" { // by the kubelet or the node's controller: Evicted, NodeLost
			return fmt.Sprintf("Pod %s/%s has ended (%s) and does not run again: %s", pod.Namespace, pod.Name, pod.Status.Reason, strings.TrimSpace(pod.Status.Message))
		}
		if why != "" && pod.DeletionTimestamp == nil && p.Age(pod.CreationTimestamp.Time) >= youngPod {
			return fmt.Sprintf("Pod %s/%s does not run%s: %s.", pod.Namespace, pod.Name, than, strings.TrimSuffix(why, "."))
		}
	}
	return ""
}

// saidOfContainers is what was said lately about the making of a pod and of its containers.
func (p *Pass) saidOfContainers(pod *corev1.Pod) string {
	for _, t := range p.PodTexts(pod) {
		if t.Fresh && t.OfContainer() {
			return ": " + evidence.Brief(t.Raw)
		}
	}
	return ", and nobody says why"
}

func summaryOfRoot(roots []*Finding) string {
	f := roots[0]
	head := firstSentence(f.Message)
	if f.Certainty == report.Possible {
		head = "Not proven: " + head
	}
	if n := len(roots) - 1; n > 0 {
		head += fmt.Sprintf(" (%s below)", count(n, "more cause", "more causes"))
	}
	return head
}

func summaryOfSymptom(r *report.Report) string {
	u := r.Unexplained[0]
	s := fmt.Sprintf("%s shows %s and no cause for it could be proven.", u.Subject, u.Name)
	if u.Answer != "" {
		s = fmt.Sprintf("%s No cause for %s of %s could be proven.", u.Answer, u.Name, u.Subject)
	}
	if len(u.CouldBe) > 0 {
		s += fmt.Sprintf(" %s could not be checked.", count(len(u.CouldBe), "possible cause", "possible causes"))
	}
	return s
}

// firstSentence cuts a message after its first sentence: a period followed by a
// space and a capital letter, so that "v1.2.3" and "pvc-1. of" stay whole.
func firstSentence(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && s[i+2] >= 'A' && s[i+2] <= 'Z' {
			return s[:i+1]
		}
	}
	return s
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
