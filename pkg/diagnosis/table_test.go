package diagnosis_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestVolumesOfANode has what ails a volume on the node, and first; a mount that fails on
// another node is none of this one's.
func TestVolumesOfANode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dir, node, claim, state string }{
		{"nfs-export-list-misses-node-source-ip", "fig", "media/media-library", "in use"},
		{"ebs-eni-consumes-attach-slots", "ip-10-40-3-17.us-east-2.compute.internal", "search/data-shard-26", "attach-failed, pod-waiting-for-volume"},
	} {
		s, err := corpus.Load("../../testdata/cases/" + c.dir)
		if err != nil {
			t.Fatal(err)
		}
		rows := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "node", Name: c.node}).Volumes
		if len(rows) == 0 || rows[0].Claim != c.claim || rows[0].State != c.state {
			t.Errorf("%s: the first of the volumes is %+v, want %s, %s", c.node, rows, c.claim, c.state)
		}
	}
}
