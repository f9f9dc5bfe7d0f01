package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fromOwnFiles are causes that look in the machine's own files and tables first when there are any; the other argues
// from what is left (Residual).
var fromOwnFiles = []string{"expansion-failed-on-node", "iscsi-initiator-name-invalid", "iscsi-node-record-invalid",
	"iscsi-tools-missing", "local-pool-inactive", "nfs-statd-missing", "volumeattachment-detach-loop"}

// TestCutLookIsNoLess compares a look at a node that was cut off with none: what arrived of it may refute a cause,
// and makes none less certain that stands without it.
func TestCutLookIsNoLess(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		whole := recorded(t, c)
		for node := range shared(t, dir).Nodes {
			if !corpus.Tried(6, c.Name, node) {
				continue
			}
			gap := snapshot.Gap{Need: "node/" + node, Reason: snapshot.Truncated, Detail: "the agent's output was cut off"}
			cut := load(t, dir)
			cut.Gaps = append(cut.Gaps, gap)
			none := load(t, dir)
			delete(none.Nodes, node)
			none.Gaps = append(none.Gaps, gap)
			half, blind := evaluate(c, cut), evaluate(c, none)
			for _, f := range whole.RootCauses {
				g, b := find(half, f), find(blind, f)
				switch {
				case b == nil || slices.Contains(fromOwnFiles, f.Name):
				case g == nil:
					t.Errorf("%s: %s on %s is %s without the recording, and not found with half of it", node, f.Name, f.Subject, b.Certainty)
				case g.Certainty.Rank() < b.Certainty.Rank():
					t.Errorf("%s: %s on %s is %s without the recording, and %s with half of it: %v", node, f.Name, f.Subject, b.Certainty, g.Certainty, g.NotConfirmed)
				}
			}
		}
	})
}
