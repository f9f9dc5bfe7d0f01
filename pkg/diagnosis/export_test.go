package diagnosis

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// StepsOf are the steps of all findings of a question, with their guards.
func (c *Catalog) StepsOf(x *snapshot.Index, q Question) []remedy.Step {
	var out []remedy.Step
	for _, f := range c.run(x, q).findings {
		out = append(out, f.steps(f)...)
	}
	return out
}
