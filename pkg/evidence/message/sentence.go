package message

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pattern"

// sentence is one thing that a program says.
type sentence struct {
	kind Kind
	re   *pattern.Pattern
}

// says is a sentence by its pattern, without regard to case.
func says(kind Kind, expr string) sentence {
	return sentence{kind: kind, re: pattern.MustCompile(`(?is)` + expr)}
}
