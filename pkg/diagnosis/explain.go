package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Whoever explains one of these also explains that the volume's pods wait. A claim that is pending
// is not among them: it may be one that does not go, which keeps no pod waiting that has it.
var bringsWaiting = []string{
	"attach-failed", "multi-attach-error", "mount-failed", "mount-busy", "format-failed",
	"fsck-failed", "share-manager-failing",
}

// explain joins symptoms with the findings that declare them.
func (c *Catalog) explain(p *Pass, roots []*Finding) {
	near, isRoot := indexKeys(p.findings), map[*Finding]bool{}
	for _, f := range roots {
		isRoot[f] = true
	}
	for _, s := range p.symptoms {
		for _, f := range near.of(&s.Keys) {
			if f.folded || f.rule.Severity == report.Risk || !f.accounts(s) || !f.related(&s.Keys) || f.spares(s) {
				continue
			}
			if top := f.root(); !slices.Contains(s.explainedBy, top) && isRoot[top] {
				s.explainedBy = append(s.explainedBy, top)
				top.felt = top.felt || !s.Past && !s.quiet()
			}
		}
	}
	explainSame(p)
	explainFollowing(p)
}

// explainFollowing gives a claim that waits for its pod's node, and that nobody explains, to those who explain why the pod waits.
func explainFollowing(p *Pass) {
	for _, s := range p.symptoms {
		if !s.Follows || len(s.explainedBy) > 0 {
			continue
		}
		for _, o := range p.symptoms {
			if o.Name == "pod-waiting-for-volume" && s.objects.has("pod/"+o.Subject.Namespace+"/"+o.Subject.Name) {
				s.explainedBy = evidence.Once(s.explainedBy, o.explainedBy...)
			}
		}
	}
}

// spares tells whether a symptom is one of a pod that has what others wait for, and waits for something else.
func (f *Finding) spares(s *Symptom) bool {
	return s.Subject.Kind == "Pod" && f.spared.objects.has("pod/"+s.Subject.Namespace+"/"+s.Subject.Name)
}

// narrower are the symptoms that a failing mount can turn out to be: a text that says
// both "the mount failed" and "because the device is busy" is one complaint.
var narrower = []string{"mount-busy", "format-failed", "fsck-failed"}

// explainSame gives a failed mount that nobody explains to those who explain what
// the same text says more precisely.
func explainSame(p *Pass) {
	precise := map[report.Evidence][]*Finding{}
	for _, o := range p.symptoms {
		if slices.Contains(narrower, o.Name) {
			for _, e := range o.Evidence {
				precise[e] = append(precise[e], o.explainedBy...)
			}
		}
	}
	for _, s := range p.symptoms {
		if s.Name != "mount-failed" || len(s.explainedBy) > 0 {
			continue
		}
		for _, e := range s.Evidence {
			s.explainedBy = evidence.Once(s.explainedBy, precise[e]...)
		}
	}
}

// accounts tells whether a finding declares a symptom, or what the symptom's texts
// all come down to.
func (f *Finding) accounts(s *Symptom) bool {
	return f.declares(s.Name) || slices.ContainsFunc(s.Shows, f.declares)
}

// declares tells whether a finding explains a symptom by its rule or, narrower,
// by what it says itself.
func (f *Finding) declares(symptom string) bool {
	list := f.symptoms()
	if slices.Contains(list, symptom) {
		return true
	}
	return symptom == "pod-waiting-for-volume" && slices.ContainsFunc(bringsWaiting, func(s string) bool { return slices.Contains(list, s) })
}

// explained lists the names of the symptoms that a root explains, sorted.
func (f *Finding) explained(p *Pass) []string {
	out := []string{}
	for _, s := range p.symptoms {
		if slices.Contains(s.explainedBy, f) && !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	slices.Sort(out)
	return out
}

// listSymptoms fills symptoms and unexplained.
func (c *Catalog) listSymptoms(p *Pass, r *report.Report) {
	puzzles := 0
	for _, s := range p.symptoms {
		if s.puzzles() {
			puzzles++
		}
	}
	r.Symptoms, r.Unexplained = slices.Grow(r.Symptoms, len(p.symptoms)), slices.Grow(r.Unexplained, puzzles)
	for _, s := range p.symptoms {
		if len(s.explainedBy) == 0 && p.elsewhere(&s.Keys) {
			continue
		}
		out := report.Symptom{Name: s.Name, Subject: s.Subject, Message: s.Message, Evidence: s.Evidence, Past: s.Past}
		for _, f := range s.explainedBy {
			out.ExplainedBy = append(out.ExplainedBy, f.id())
		}
		r.Symptoms = append(r.Symptoms, out)
		if s.puzzles() {
			r.Unexplained = append(r.Unexplained, c.unexplained(p, s, out))
		}
	}
	rank := func(u report.Unexplained) int {
		n := 2 * telling(u.Name, Step(u.Step), u.Last != "", p.Question.Outline || len(u.Next) > 0)
		if p.Question.Kind == "pod" && u.Subject.Kind == "Pod" && !p.isAsked(u.Subject) {
			n++ // the asked pod comes before others that share a volume with it
		}
		return n
	}
	slices.SortStableFunc(r.Unexplained, func(a, b report.Unexplained) int { return rank(a) - rank(b) })
}

// puzzles tells whether a symptom wants a cause that it does not have.
func (s *Symptom) puzzles() bool { return !s.settled() && !s.Past && !s.quiet() }

// settled tells whether a symptom has a cause that is at least likely, or one that needs
// only time. A cause that is no more than possible leaves the symptom open: what was seen
// is shown beside it.
func (s *Symptom) settled() bool {
	return slices.ContainsFunc(s.explainedBy, func(f *Finding) bool { return f.Waiting || f.Certainty.Rank() > report.Possible.Rank() })
}
