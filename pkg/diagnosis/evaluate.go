package diagnosis

import (
	"sort"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Evaluate answers a question about a snapshot. It never fails: what a rule could
// not do is in the report.
func (c *Catalog) Evaluate(x *snapshot.Index, q Question) *report.Report {
	r, _ := c.Audit(x, q)
	return r
}

// Audit evaluates and tells which rules left a sentence of their document unfinished:
// a fault of the program, for tests.
func (c *Catalog) Audit(x *snapshot.Index, q Question) (*report.Report, []string) {
	p := &Pass{Index: x, Question: q}
	var r *report.Report
	p.survive("report", func() {
		roots := c.answer(p)
		if len(p.texts.standing) > 0 && p.leavesOpen() {
			if again, others := c.again(p); again.saysMore() {
				p, roots = again, others
			}
		}
		r = c.assemble(p, roots)
	})
	if r == nil {
		r = p.broken()
	}
	return r, p.faults
}

// answer asks every rule, and tells what caused what; the roots are in order.
func (c *Catalog) answer(p *Pass) []*Finding {
	begin(p)
	c.run(p)
	roots := c.gather(p)
	c.explain(p, roots)
	sort.SliceStable(roots, func(i, j int) bool { return less(roots[i], roots[j]) })
	return roots
}

// run asks every rule and relates what they found.
func (c *Catalog) run(p *Pass) {
	for _, s := range c.Symptoms {
		p.symptom = s.Name
		p.survive(s.Name, func() { s.Run(p) })
	}
	p.symptomOf = nil
	for _, r := range c.order() {
		p.rule = r
		p.walk(r)
	}
	p.rule = nil
	p.forgetPlaces()
	for _, n := range c.Noise {
		p.noise = n.Name
		p.survive(n.Name, func() { n.Run(p) })
	}
	c.weakenByFailed(p)
	p.keepToNode()
	p.keepHere()
	p.setNearness()
	p.sortFindings()
	c.relate(p.findings)
}

// begin finds what the question is about.
func begin(p *Pass) {
	p.missed = map[missKey]map[string]bool{}
	p.offers = map[offer][]*Rule{}
	p.couldBe, p.ruledOut = map[uint64][]report.CouldBe{}, map[uint64][]report.Excluded{}
	p.forgetPlaces()
	p.kinds, p.bearing = map[*snapshot.Volume]volume.Kind{}, map[volume.Kind]bearing{}
	p.findingOf, p.symptomOf, p.symptomsOn = map[identity]*Finding{}, map[identity]*Symptom{}, map[string][]*Symptom{}
	p.scope = newScope(p.Index, p.Question)
	p.texts = newTexts(p.Index, p.scope)
}

// forgetPlaces lets go of what only rules ask for, before the report takes its room.
func (p *Pass) forgetPlaces() {
	p.placesBy, p.placesIn = map[*snapshot.Volume]*volumePlaces{}, map[placesFor][]*evidence.Place{}
	p.podPlace, p.proofs = map[*corev1.Pod]*evidence.Place{}, nil
	if p.texts != nil {
		p.texts.byNode = nil
	}
}

// order runs deeper layers first; within one, by name.
func (c *Catalog) order() []*Rule {
	out := append([]*Rule(nil), c.Rules...)
	sort.SliceStable(out, func(i, j int) bool {
		if a, b := depth[out[i].Layer], depth[out[j].Layer]; a != b {
			return a > b
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// isAsked tells whether something is about the very object of the question, on whatever node.
func (p *Pass) isAsked(s report.Subject) bool {
	s.Node = p.scope.subject.Node
	return s == p.scope.subject
}

// setNearness marks findings on the asked volume or pod, and on the nodes of its waiting pods:
// of a pod that is asked for, on its own.
func (p *Pass) setNearness() {
	if p.Sweep() || len(p.scope.volumes) == 0 {
		return
	}
	asked, node := p.scope.volumes[0].Key(), ""
	if pod := p.Index.Pod(p.Question.Namespace, p.Question.Name); p.Question.Kind == "pod" && pod != nil {
		asked, node = "pod/"+pod.Namespace+"/"+pod.Name, pod.Spec.NodeName
	}
	for _, f := range p.findings {
		if f.objects.has(asked) || p.isAsked(f.Subject) {
			f.near += 2
		}
		for _, v := range p.scope.volumes {
			for _, w := range v.Waiting() {
				if n := w.Pod.Spec.NodeName; n != "" && f.at.has(n) && (node == "" || n == node) {
					f.near |= 1
				}
			}
		}
	}
}
