package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestAnotherWriter lets somebody else, by another name, use each disk on a node that nobody
// looked at: nothing that may lose data is printed, nor what mounts a filesystem anew that
// the kernel closed; and the other's pod is no part of any answer.
func TestAnotherWriter(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		before := recorded(t, c)
		if len(corpus.Acting(before)) == 0 {
			return
		}
		s, ok := corpus.Twinned(shared(t, dir), c.Ask.Namespace)
		if !ok {
			return
		}
		after := evaluate(c, s)
		for _, command := range corpus.Acting(after) {
			if !slices.Contains(corpus.Acting(before), command) || strings.Contains(command, "rival-") {
				t.Errorf("only with another writer: %s", command)
			}
		}
		for _, f := range slices.Concat(after.RootCauses, after.Findings) {
			for _, m := range f.Remedies {
				if acts := len(m.Commands) > 0 && m.Risk != remedy.ReadOnly; acts && (m.Risk == remedy.DataLoss || closed(f)) {
					t.Errorf("%s: somebody else may write to the disk: %q", f.Name, m.Commands)
				}
			}
		}
	})
}

func closed(f report.Cause) bool { return f.Name == "filesystem-readonly-after-error" }
