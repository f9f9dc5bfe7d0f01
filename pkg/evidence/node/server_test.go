package node_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestServerAtLeast(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"v1.26.0": true, "v1.25.9": false, "v1.34.4+k3s1": true, "v2.0.0": true, "v1.9+": false, "v1.30+": true, "": false, "vx.y": false} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Server: version})
		if got := node.ServerAtLeast(x, 1, 26); got != want {
			t.Errorf("%q: got %v", version, got)
		}
	}
}
