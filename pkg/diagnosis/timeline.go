package diagnosis

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/report"

// timeline lists the dated facts of the story, oldest first.
func (p *Pass) timeline(roots []*Finding) []report.Moment { return []report.Moment{} }
