package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// StepsOf are the steps of all findings of a question, with their guards.
func (c *Catalog) StepsOf(x *snapshot.Index, q Question) []remedy.Step {
	var out []remedy.Step
	p := newPass(x, q)
	c.run(p)
	for _, f := range p.findings {
		out = append(out, f.steps(f)...)
	}
	return out
}

// Bears are the kinds of volumes that can have a rule's cause.
func (r *Rule) Bears() volume.Kind { return r.bears() }

// Impossible lists what was found, or offered as what it could be, for volumes of which
// none can have it.
func (c *Catalog) Impossible(x *snapshot.Index, q Question) []string {
	p := newPass(x, q)
	c.run(p)
	var out []string
	note := func(r *Rule, k Keys, how string) {
		volumes := p.volumesOf(&k)
		can := func(v *snapshot.Volume) bool { return r.can(volume.KindOf(x, v)) }
		if len(volumes) > 0 && !slices.ContainsFunc(volumes, can) {
			out = append(out, r.Name+" "+how+" "+volumes[0].Key())
		}
	}
	for _, f := range p.findings {
		note(f.rule, f.Keys, "found on")
	}
	for _, s := range p.symptoms {
		for _, o := range c.couldBe(p, s) {
			note(c.Rule(o.Cause), s.Keys, "offered for "+s.Name+" of")
		}
	}
	return out
}

func newPass(x *snapshot.Index, q Question) *Pass {
	p := &Pass{Index: x, Question: q}
	begin(p)
	return p
}
