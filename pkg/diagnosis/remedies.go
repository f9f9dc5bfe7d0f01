package diagnosis

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// remedies turns the steps of a finding into what the report says of them. Here, and
// nowhere else, it is decided whether the commands of a step are printed.
func remedies(p *Pass, f, root *Finding) []report.Remedy {
	out := []report.Remedy{}
	for _, s := range f.Steps {
		if s.Name != "" && !slices.Contains(f.rule.Offers, s.Name) {
			p.faults = append(p.faults, f.Cause+": its rule has a step "+s.Name+" that it does not offer")
		}
	}
	for _, s := range f.steps(root) {
		if r, ok := s.Decide(p.Index); ok {
			out = append(out, r)
			p.nameless(f.Cause, r.Commands)
		}
	}
	if slices.ContainsFunc(out, func(r report.Remedy) bool { return len(r.Commands) > 0 }) {
		return out
	}
	// Words alone leave the reader to find the place: the first step shows it, or the one that waits until it was looked at.
	if s, ok := remedy.Show(p.Index, f.Subject, f.facts.list); ok {
		r, ok := s.Decide(p.Index)
		if i := slices.IndexFunc(out, func(r report.Remedy) bool { return r.Settle != "" }); ok && i >= 0 {
			out[i].Commands, out[i].Risk, out[i].Afterwards = r.Commands, r.Risk, r.Afterwards
		} else if ok {
			return append([]report.Remedy{r}, out...)
		}
	}
	return out
}

// nameless notes commands with an empty word: a name that the evidence does not have.
func (p *Pass) nameless(cause string, commands []string) {
	for _, c := range commands {
		if strings.Contains(c+" ", " '' ") {
			p.faults = append(p.faults, cause+": a command lacks a name: "+c)
		}
	}
}

// steps are the plain words and the steps that the entries of a finding and of its root
// offer: what the root forbids is left out below it, too. Nobody acts on a cause that is
// only likely, so its proof is one more thing to settle.
func (f *Finding) steps(root *Finding) []remedy.Step {
	var out []remedy.Step
	for _, s := range f.Steps {
		if s.Name != "" && !(slices.Contains(f.rule.Offers, s.Name) && slices.Contains(root.rule.Offers, s.Name)) {
			continue
		}
		if f.Certainty != report.Certain {
			s = s.If(remedy.Proven(f.Cause, f.NotConfirmed))
		}
		out = append(out, s)
	}
	return out
}
