package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// elsewhereOnly are cases whose cause shows itself only on a node that nothing but its own
// recording ties to the volume.
var elsewhereOnly = []string{"k8s-nfs-server-died-kubelet-stuck", "rbd-mounted-on-two-nodes-goes-readonly"}

// TestUnprobedNodeLeavesOpen takes all recordings of nodes away: where nothing else explains
// a failure, its cause is one of those that it could be, and nothing that lives on a node is
// said to be ruled out.
func TestUnprobedNodeLeavesOpen(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		blind := load(t, dir)
		if len(blind.Nodes) == 0 {
			return
		}
		blind.Nodes = nil
		r := evaluate(c, blind)
		var told []string
		for _, u := range r.Unexplained {
			for _, o := range u.CouldBe {
				told = append(told, o.Cause)
			}
			for _, o := range u.RuledOut {
				if slices.Contains([]diagnosis.Layer{diagnosis.Mount, diagnosis.Device, diagnosis.Transport, diagnosis.Filesystem}, causes.Catalog().Rule(o.Cause).Layer) {
					t.Errorf("no node was looked at, and %s is ruled out", o.Cause)
				}
			}
		}
		if r.Verdict == report.UnknownState || len(r.RootCauses) > 0 || slices.Contains(elsewhereOnly, c.Name) {
			return
		}
		for _, f := range recorded(t, c).RootCauses {
			if !slices.Contains(told, f.Name) {
				t.Errorf("%s is none of what it could be: %v", f.Name, told)
			}
		}
	})
}
