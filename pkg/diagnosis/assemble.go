package diagnosis

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// assemble builds the report from related findings. What others wrote is made
// visible in one place, here: rules put names into sentences as they are.
func (c *Catalog) assemble(p *Pass, roots []*Finding) *report.Report {
	r := &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		Subject: p.scope.subject, TakenAt: p.TakenAt.UTC().Format(time.RFC3339), Server: p.Server, Probes: p.probes(),
		RootCauses: []report.Cause{}, Findings: []report.Cause{}, Symptoms: []report.Symptom{},
		Unexplained: []report.Unexplained{}, Noise: p.noises, Timeline: []report.Moment{},
	}
	for _, f := range roots {
		r.RootCauses = append(r.RootCauses, c.cause(p, f, f))
		c.nested(p, f, f, r)
	}
	c.listSymptoms(p, r)
	r.NotChecked = append(p.notChecked(), p.sourceUnread()...)
	if len(roots) == 0 {
		r.NotChecked = append(r.NotChecked, p.stateUnread()...)
	}
	if r.Noise == nil {
		r.Noise = []report.Noise{}
	}
	if len(roots) == 0 {
		r.Error = p.notFound()
	}
	r.Chain = p.chain(roots)
	r.Volumes = p.table()
	r.Timeline = p.timeline(roots)
	r.Verdict = p.verdict(roots, r)
	r.Summary = p.summary(roots, r)
	c.tally(p, r, p.findings)
	hide(r, &p.Cluster)
	return report.Show(r)
}

// gather attaches every finding to its root and returns the roots.
func (c *Catalog) gather(p *Pass) []*Finding {
	var roots []*Finding
	near := indexKeys(p.findings)
	for _, f := range p.findings {
		switch {
		case f.folded:
		case f.rule.Severity == report.Risk:
			if top := c.riskRoot(near, f); top != nil {
				top.risks = append(top.risks, f)
			} else if p.Sweep() {
				roots = append(roots, f)
			}
		case f.yieldTo != nil:
			top := f.root()
			top.took = append(top.took, f)
			top.merge(&f.Keys)
		case f.parent != nil:
			f.parent.children = append(f.parent.children, f)
		default:
			roots = append(roots, f)
		}
	}
	return roots
}

// riskRoot finds the proven cause that a risk made possible.
func (c *Catalog) riskRoot(near keyIndex, risk *Finding) *Finding {
	for _, f := range near.of(&risk.Keys) {
		if f.rule.Severity == report.Risk || f.Certainty.Rank() < report.Likely.Rank() || !risk.sameObject(&f.Keys) {
			continue
		}
		if c.leads(risk.Cause, f.Cause, nil) {
			return f.root()
		}
	}
	return nil
}

// nested lists what hangs below a root, depth first.
func (c *Catalog) nested(p *Pass, root, f *Finding, r *report.Report) {
	for _, child := range f.children {
		cause := c.cause(p, child, root)
		cause.CausedBy = f.id()
		r.Findings = append(r.Findings, cause)
		c.nested(p, root, child, r)
	}
	for _, k := range f.risks {
		cause := c.cause(p, k, root)
		cause.CausedBy = f.id()
		r.Findings = append(r.Findings, cause)
	}
}

func (c *Catalog) cause(p *Pass, f, root *Finding) report.Cause {
	steps := remedies(p, f, root) // by its own facts
	var yielded []string
	for _, t := range f.took {
		yielded = add(yielded, t.id())
		f.facts.add(t.facts.list...)
	}
	out := report.Cause{
		Name: f.Cause, Certainty: f.Certainty, Severity: f.Severity, Layer: string(f.rule.Layer),
		Subject: f.Subject, Message: f.Message, Evidence: f.facts.list, Explains: f.explained(p),
		Remedies: steps, Refutation: f.Refutation,
		PerhapsFrom: f.perhaps, Yielded: yielded, Waiting: f.Waiting, NotConfirmed: f.NotConfirmed,
	}
	for _, a := range f.Also {
		out.Message += " " + a
	}
	if out.Evidence == nil {
		out.Evidence = []report.Evidence{}
	}
	out.ID, out.Affects = f.id(), p.affected(f)
	out.Fingerprint = fingerprint(out)
	return out
}
