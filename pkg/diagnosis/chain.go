package diagnosis

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/report"

// chain lists the objects between the pod and the bytes, one row each.
func (p *Pass) chain(roots []*Finding) []report.Link { return []report.Link{} }
