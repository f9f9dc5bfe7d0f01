package remedy

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Group makes one step of deletions that differ only in the pod: what stands in one
// command is read, checked and pasted once.
func Group(list []report.Remedy) []report.Remedy {
	out := make([]report.Remedy, 0, len(list))
	for i := 0; i < len(list); i++ {
		n := 1
		for i+n < len(list) && deletesAlike(list[i], list[i+n]) {
			n++
		}
		if n == 1 {
			out = append(out, list[i])
			continue
		}
		out = append(out, together(list[i:i+n]))
		i += n - 1
	}
	return out
}

// deletesAlike tells whether two steps delete pods of one namespace that a controller
// makes anew.
func deletesAlike(a, b report.Remedy) bool {
	alike := func(m report.Remedy) []string {
		if m.Name != "delete-pod" || len(m.Commands) != 1 || m.Undo != recreated {
			return nil
		}
		words := strings.Fields(m.Commands[0])
		return words[:len(words)-1]
	}
	x, y := alike(a), alike(b)
	return x != nil && slices.Equal(x, y)
}

func together(list []report.Remedy) report.Remedy {
	m := list[0]
	words := strings.Fields(m.Commands[0])
	words = words[:len(words)-1]
	var names []string
	others := 0
	for _, o := range list {
		all := strings.Fields(o.Commands[0])
		names = append(names, all[len(all)-1])
		if o.Precondition != m.Precondition {
			others++
		}
	}
	m.Title = titled("Delete these %d pods; their controllers make new ones.", len(list))
	m.Commands = []string{strings.Join(append(words, names...), " ")}
	if others > 0 {
		m.Precondition += "; the same was seen of the other pods"
	}
	m.Verify = "the new pods are Running and started later than the volume was attached or remounted"
	return m
}
