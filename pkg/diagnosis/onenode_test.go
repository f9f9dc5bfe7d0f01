package diagnosis_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestOneNodeOfTwoIncidents puts an incident of other drivers on the very node of each case: its disks,
// mounts, processes and kernel's lines make nothing certain that was not, nobody well, and no command.
func TestOneNodeOfTwoIncidents(t *testing.T) {
	t.Parallel()
	root, names := cases(t)
	many := 1
	if os.Getenv("ALL_LOSSES") != "" { // .ci/run takes all
		many = 4
	}
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		s, tried := load(t, dir), 0
		node := busiest(s)
		if nearby[c.Name] != "" || c.Ask.Kind != "pvc" && c.Ask.Kind != "pod" || node == "" || many == 1 && !corpus.Sampled(8, c.Name, "node") {
			return
		}
		whole := recorded(t, c)
		acting := corpus.Acting(whole)
		others := slices.SortedFunc(slices.Values(names), func(a, b string) int {
			return cmp.Compare(corpus.Hash(c.Name, a), corpus.Hash(c.Name, b))
		})
		for _, name := range others {
			at := filepath.Join(root, name)
			raw := load(t, at)
			from := busiest(raw)
			if tried == many || name == c.Name || from == "" || raw.Nodes[node] != nil || !strangers(s, raw) {
				continue
			}
			other := away(t, s, at, from, node)
			if other == nil {
				continue
			}
			both := corpus.OnOneNode(s, other, node)
			if both == nil {
				continue
			}
			tried++
			got := evaluate(c, both)
			for _, wrong := range corpus.Weaker(corpus.Judged{Report: whole}, corpus.Judged{Report: got}) {
				t.Errorf("with %s on the node: %s", name, wrong)
			}
			if got.Verdict != whole.Verdict {
				t.Errorf("with %s on the node the verdict is %s instead of %s", name, got.Verdict, whole.Verdict)
			}
			for _, command := range corpus.Acting(got) {
				if !slices.Contains(acting, command) {
					t.Errorf("with %s on the node: new is the command %s", name, command)
				}
			}
		}
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
