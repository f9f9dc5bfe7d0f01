package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestServerNames: the name of a server that a pod waits for is on no node; an address,
// and the server of a pod that runs, need no question.
func TestServerNames(t *testing.T) {
	t.Parallel()
	s, err := snapshot.Load("../../testdata/cases/nfs-service-name-on-node-7")
	if err != nil {
		t.Fatal(err)
	}
	plan := NewPlan(snapshot.NewIndex(s), Question{Kind: "pvc", Namespace: "media", Name: "library"}, Options{})
	got := map[string][]string{}
	for _, target := range plan.Targets {
		got[target.Node] = target.Names
	}
	want := map[string][]string{"kw-1": {"nfs-pvc-a819b066-8c44-4bbe-b5fc-f4574002c112.openebs.svc.cluster.local"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names mismatch (-want +got):\n%s", diff)
	}
}
