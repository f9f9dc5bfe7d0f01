package diagnosis_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestOneNodeOfTwoIncidents puts an incident of other drivers on the very node of each case: its disks,
// mounts, processes and kernel's lines make nothing certain that was not, nobody well, and no command.
func TestOneNodeOfTwoIncidents(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		s := shared(t, dir)
		node := busiest(s)
		if nearby[c.Name] != "" || c.Ask.Kind != "pvc" && c.Ask.Kind != "pod" || node == "" || !corpus.Tried(8, c.Name, "node") {
			return
		}
		whole := recorded(t, c)
		acting := corpus.Acting(whole)
		others(t, c, s, func(name, at string, raw *snapshot.Snapshot) bool {
			from := busiest(raw)
			if from == "" || raw.Nodes[node] != nil {
				return false
			}
			other := away(t, s, at, from, node)
			if other == nil {
				return false
			}
			both := corpus.OnOneNode(s, other, node)
			if both == nil {
				return false
			}
			got := evaluate(c, both)
			noStronger(t, "with "+name+" on the node", corpus.Judged{Report: whole}, corpus.Judged{Report: got}, acting)
			if got.Verdict != whole.Verdict {
				t.Errorf("with %s on the node the verdict is %s instead of %s", name, got.Verdict, whole.Verdict)
			}
			return true
		})
	})
}

// busiest is the recorded node whose pods use the most claims, or nothing.
func busiest(s *snapshot.Snapshot) string {
	best, most := "", -1
	for node, r := range s.Nodes {
		if len(r.Recording) == 0 {
			continue
		}
		uses := 0
		for _, p := range s.Cluster.Pods {
			for _, v := range p.Spec.Volumes {
				if p.Spec.NodeName == node && v.PersistentVolumeClaim != nil {
					uses++
				}
			}
		}
		if uses > most || uses == most && node < best {
			best, most = node, uses
		}
	}
	return best
}
