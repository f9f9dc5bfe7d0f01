package diagnosis

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ruleNeed begins the name of what is missing when a part of the program failed.
const ruleNeed = "rule/"

// survive runs a part of the evaluation. A panic (a fault of the program that some bytes
// brought to light) costs what this part would have said, and the report says so; all
// other answers stay.
func (p *Pass) survive(name string, run func()) { p.lose(name, fault.Of(run)) }

// lose notes a part that did not end.
func (p *Pass) lose(name string, err error) {
	if err != nil {
		p.failed = append(p.failed, failure{name, err.Error()})
		if p.rule != nil {
			p.Miss(ruleNeed+name, "")
		}
	}
}

// failure is a part that did not end.
type failure struct{ name, why string }

// whyFailed is what happened to a rule.
func (p *Pass) whyFailed(name string) string {
	for _, f := range p.failed {
		if f.name == name {
			return "rule " + name + " failed, " + f.why
		}
	}
	return ""
}

// notFailed lists the parts that failed and are no rule's.
func (p *Pass) notFailed(known []report.NotChecked) []report.NotChecked {
	var out []report.NotChecked
	for _, f := range p.failed {
		need := ruleNeed + f.name
		if !slices.ContainsFunc(slices.Concat(known, out), func(n report.NotChecked) bool { return n.Need == need }) {
			out = append(out, report.NotChecked{Need: need, Reason: snapshot.Failed, Detail: f.name + " failed, " + f.why})
		}
	}
	return out
}

// weakenByFailed lowers what would have given way to, or been explained by, a rule that
// failed.
func (c *Catalog) weakenByFailed(p *Pass) {
	for _, f := range p.findings {
		for _, failed := range p.failed {
			rule := c.byName[failed.name]
			if f.Certainty == report.Certain && rule != nil && (slices.Contains(f.rule.YieldsTo, failed.name) ||
				slices.Contains(f.rule.Residual, rule.Layer) || c.leads(failed.name, f.Cause, nil)) {
				f.Certainty = report.Likely
				f.NotConfirmed = append(f.NotConfirmed, "that it is not "+failed.name+" (its rule failed)")
			}
		}
	}
}

// broken is the report of a question whose answer could not be put together.
func (p *Pass) broken() *report.Report {
	r := &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		RootCauses: []report.Cause{}, Findings: []report.Cause{}, Symptoms: []report.Symptom{},
		Unexplained: []report.Unexplained{}, Noise: []report.Noise{}, Timeline: []report.Moment{},
		Subject: p.scope.subject, Verdict: report.UnknownState, Summary: "The answer could not be put together: this program failed.",
	}
	r.NotChecked = p.notFailed(nil)
	return report.Visible(r)
}
