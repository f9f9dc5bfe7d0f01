package lvm

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestAccepts asks whether lvm.conf lets LVM scan a loop device.
func TestAccepts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, want string }{
		"no filter":                  {"devices {\n}\n", "yes"},
		"it rejects loops":           {"devices {\n global_filter = [ \"r|/dev/loop.*|\" ]\n}\n", "no"},
		"it rejects something else":  {"devices {\n global_filter = [ \"r|/dev/rbd.*|\", \"a|.*|\" ]\n}\n", "yes"},
		"over several lines":         {"devices {\n global_filter = [\n \"r|/dev/loop.*|\"\n ]\n}\n", "no"},
		"only filter, which is less": {"devices {\n filter = [ \"r|/dev/loop.*|\" ]\n}\n", "yes"},
		"a comment":                  {"devices {\n # global_filter = [ \"r|/dev/loop.*|\" ]\n}\n", "yes"},
		"the devices file":           {"devices {\n use_devicesfile = 1\n}\n", "no"},
		"not read":                   {"", "unseen"},
	} {
		f := &probes.Facts{Files: map[string]probes.File{}}
		if tt.file != "" {
			f.Files[conf] = probes.File{Kind: "file", Content: tt.file}
		}
		x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: f}}})
		if got := Accepts(&evidence.Place{X: x, Node: "n", View: x.View("n")}, "/dev/loop0").String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
