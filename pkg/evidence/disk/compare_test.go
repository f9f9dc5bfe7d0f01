package disk

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// TestWhole leaves out what a node makes itself: by its size alone it may be anybody's.
func TestWhole(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"sdb": true, "nvme1n1": true, "vdb": true, "xvdba": true, "drbd1000": false, "rbd0": false, "nbd3": false, "loop7": false, "md127": false, "bcache0": false, "zd16": false} {
		if got := Whole(&probes.BlockDevice{Name: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
