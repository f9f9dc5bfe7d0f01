package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// leavesOpen tells whether something is wrong that nothing explains for certain.
func (p *Pass) leavesOpen() bool {
	return slices.ContainsFunc(p.symptoms, func(s *Symptom) bool {
		return !s.Past && !s.quiet() && !slices.ContainsFunc(s.explainedBy, func(f *Finding) bool { return f.Certainty == report.Certain })
	})
}

// again answers the same question with the events that only stand (Index.Standing). What was
// not certain without them is likely at the most: nobody repeated it lately.
func (c *Catalog) again(p *Pass) (*Pass, []*Finding) {
	q := &Pass{Index: p.Patient(), Question: p.Question, before: map[identity]report.Certainty{}}
	for id, f := range p.findingOf {
		q.before[id] = f.Certainty
	}
	return q, c.answer(q)
}

// saysMore tells whether the events that only stand show a cause that was not seen without them, or
// who refused what is left without one.
func (p *Pass) saysMore() bool {
	for id, f := range p.findingOf {
		if f.Certainty.Rank() > p.before[id].Rank() {
			return true
		}
	}
	return slices.ContainsFunc(p.symptoms, func(s *Symptom) bool {
		if s.Past || s.quiet() || len(s.explainedBy) > 0 {
			return false
		}
		said := p.puzzleOf(s).text
		return said != nil && said.Aged
	})
}

// capByAge caps what is certain only by the events that stand, and tells how old they are.
func (p *Pass) capByAge(f *Finding) {
	f.Certainty = f.Certainty.AtMost(report.Likely)
	for _, e := range f.facts.list {
		if at, stands := p.texts.standing[spoken{e.Locator, e.Text}]; stands {
			f.NotConfirmed = add(f.NotConfirmed, "that it is still so: it was last said "+evidence.Duration(p.Age(at))+" ago")
		}
	}
}
