package diagnosis

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// youngPod is the age below which a pod that waits without an error is only
// starting: attach, stage and publish of a healthy volume take up to a minute,
// the kubelet's first summary comes after 2m3s.
const youngPod = 2 * time.Minute

// verdict answers in one word. Silence never looks like health: with anything
// unchecked and nothing found the answer is unknown. A risk is a remark: nobody suffers
// from it yet.
func (p *Pass) verdict(roots []*Finding, r *report.Report) string {
	worst, waiting := worstOf(roots)
	switch {
	case !p.scope.found && len(roots) == 0:
		return report.UnknownState
	case worst == report.Blocking || blockedBySymptom(r.Unexplained) || p.onlyGuessed() || worst == report.Degraded && p.keepsWaiting(roots):
		return report.Broken
	case worst == report.Degraded || len(r.Unexplained) > 0:
		return report.VerdictDegr
	case waiting || p.justStarted() || p.unconsumed() != "" || p.pending() != "" || p.beingMade() && len(r.NotChecked) == 0:
		return report.Waiting
	case slices.ContainsFunc(roots, func(f *Finding) bool { return f.Severity != report.Risk }):
		return report.VerdictDegr // possible, and nobody suffers
	case len(r.NotChecked) > 0, p.unready() != "":
		return report.UnknownState
	}
	return report.Healthy
}

// worstOf returns the worst severity of the roots that are at least likely and
// do not merely wait; waiting tells whether some root only needs time.
func worstOf(roots []*Finding) (worst report.Severity, waiting bool) {
	for _, f := range roots {
		switch {
		case f.Waiting:
			waiting = true
		case f.Certainty.Rank() < report.Likely.Rank():
			continue
		case f.Severity.Rank() > worst.Rank():
			worst = f.Severity
		}
	}
	return worst, waiting
}

// SymptomSeverity is what a symptom does to the workload: some slow or weaken a volume without
// stopping it.
func SymptomSeverity(name string) report.Severity {
	switch name {
	case "volume-degraded", "expansion-pending", "modification-pending":
		return report.Degraded
	}
	return report.Blocking
}

func blockedBySymptom(list []report.Unexplained) bool {
	return slices.ContainsFunc(list, func(u report.Unexplained) bool { return !u.Past && SymptomSeverity(u.Name) == report.Blocking })
}

// onlyGuessed tells whether a present symptom has no better explanation than a mere
// possibility: the volume is broken, whatever the reason is.
func (p *Pass) onlyGuessed() bool {
	for _, s := range p.symptoms {
		if s.Past || s.quiet() || SymptomSeverity(s.Name) != report.Blocking || len(s.explainedBy) == 0 {
			continue
		}
		best := 0
		for _, f := range s.explainedBy {
			best = max(best, f.Certainty.Rank())
			if f.Waiting {
				best = report.Certain.Rank() // it needs only time, however sure that is
			}
		}
		if best < report.Likely.Rank() {
			return true
		}
	}
	return false
}

// keepsWaiting tells whether a root that is usually no more than a nuisance keeps a pod from starting here.
func (p *Pass) keepsWaiting(roots []*Finding) bool {
	return slices.ContainsFunc(p.symptoms, func(s *Symptom) bool {
		return s.Name == "pod-waiting-for-volume" && !s.Past && !s.quiet() && slices.ContainsFunc(s.explainedBy, func(f *Finding) bool { return !f.Waiting && f.Severity == report.Degraded && slices.Contains(roots, f) })
	})
}

// pending is what a symptom says that only needs time so far, and that nothing explains.
func (p *Pass) pending() string {
	for _, s := range p.symptoms {
		if s.Pending != "" && !s.Past && len(s.explainedBy) == 0 {
			return s.Pending
		}
	}
	return ""
}

// justStarted tells whether a pod waits for a volume and is too young to be late.
func (p *Pass) justStarted() bool {
	if p.Sweep() {
		return false
	}
	if pod := p.Pod(p.Question.Namespace, p.Question.Name); p.Question.Kind == "pod" && pod != nil && pod.Status.Phase == corev1.PodPending && p.Age(pod.CreationTimestamp.Time) < youngPod {
		return true // for a ConfigMap or a Secret, which are no volumes in question
	}
	for _, v := range p.Volumes() {
		for _, w := range v.Waiting() {
			if p.Age(w.Pod.CreationTimestamp.Time) < youngPod {
				return true
			}
		}
	}
	return false
}

// beingMade tells whether the asked claim is Pending, and too young for that to be wrong.
func (p *Pass) beingMade() bool {
	c := p.unmade()
	return c != nil && p.Age(c.CreationTimestamp.Time) < youngPod
}

// unmade is the asked claim while it is Pending.
func (p *Pass) unmade() *corev1.PersistentVolumeClaim {
	if p.Question.Kind != "pvc" || len(p.scope.volumes) == 0 {
		return nil
	}
	c := p.scope.volumes[0].Claim
	if c == nil || c.Status.Phase != corev1.ClaimPending || c.DeletionTimestamp != nil {
		return nil
	}
	return c
}

// unconsumed is the class for whose volumes the asked claim waits until a pod uses it;
// empty when it waits for anything else (docs: StorageClass, volumeBindingMode).
func (p *Pass) unconsumed() string {
	if p.unmade() == nil {
		return ""
	}
	v := p.scope.volumes[0]
	if len(v.Live()) > 0 || v.Claim.Spec.VolumeName != "" || snapshot.ChosenNode(v.Claim) != "" || !snapshot.BindsLate(v.Class) { // a claim that names its volume is nobody's to place
		return ""
	}
	if !evidence.ResourceIn(p.Index, "/pods", v.Claim.Namespace).Complete() {
		return "" // there may be a consumer that was not read
	}
	return v.Class.Name
}
