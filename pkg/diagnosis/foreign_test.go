package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fromAllPods are causes that argue from all pods there are: a controller of the driver, who owns an address, and
// what takes a node's room may live in any namespace.
var fromAllPods = []string{"attacher-not-working", "csidriver-object-wrong", "driver-not-installed", "iscsi-portal-unreachable",
	"mount-propagation-off", "topology-conflict", "volume-mapped-outside-cluster"}

// TestForeignNamespaceUnread takes away the pods of a namespace in which nothing of the case lives: whoever is there
// cannot use a claim of another namespace, and what was proven stays proven.
func TestForeignNamespaceUnread(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		if c.Ask.Kind == "node" || c.Ask.Kind == "cluster" {
			return // it is about the volumes of those pods, too
		}
		s := load(t, dir)
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: "api//pods/team-x", Reason: snapshot.Forbidden, Detail: "pods is forbidden"})
		whole, lost := recorded(t, c), evaluate(c, s)
		for _, f := range whole.RootCauses {
			g := find(lost, f)
			switch {
			case f.Name == "provisioner-not-responding": // whoever makes the volume may be there
			case g == nil:
				t.Errorf("%s on %s is not found any more", f.Name, f.Subject)
			case g.Certainty != f.Certainty && !(g.Certainty == report.Likely && slices.Contains(fromAllPods, f.Name)):
				t.Errorf("%s is %s instead of %s: %v", f.Name, g.Certainty, f.Certainty, g.NotConfirmed)
			}
		}
		if whole.Verdict != lost.Verdict {
			t.Errorf("the verdict is %s instead of %s", lost.Verdict, whole.Verdict)
		}
	})
}

func find(r *report.Report, f report.Cause) *report.Cause {
	for i, g := range r.RootCauses {
		if g.Name == f.Name && g.Subject == f.Subject {
			return &r.RootCauses[i]
		}
	}
	return nil
}
