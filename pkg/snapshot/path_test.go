package snapshot_test

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestDeadPath: sysfs calls a disk running whose LUN the array took away; the daemon's
// checker, or a read, knows better.
func TestDeadPath(t *testing.T) {
	t.Parallel()
	m := probes.BlockDevice{Name: "dm-3", Slaves: []string{"sdb"}, DM: &probes.DM{Name: "mpatha", UUID: "mpath-3600"}}
	for name, x := range map[string]struct {
		state string
		edit  func(*probes.Facts)
		dead  bool
	}{
		"running":              {state: "running"},
		"without a state":      {},
		"offline":              {state: "offline", dead: true},
		"transport-offline":    {state: "transport-offline", dead: true},
		"gone":                 {edit: func(f *probes.Facts) { f.Block = f.Block[:1] }, dead: true},
		"faulty for multipath": {state: "running", edit: daemon("sdb"), dead: true},
		"another is faulty":    {state: "running", edit: daemon("sdc")},
		"given up":             {state: "running", edit: func(f *probes.Facts) { f.Multipath.Maps = []probes.MultipathMap{{Sysfs: "dm-3", Pathless: true}} }, dead: true},
		"not named":            {state: "running", edit: func(f *probes.Facts) { f.Multipath.Maps = []probes.MultipathMap{{Sysfs: "dm-3"}} }},
		"unreadable":           {state: "running", edit: reads("EIO"), dead: true},
		"not read":             {state: "running", edit: reads("EBUSY")},
	} {
		f := &probes.Facts{Block: []probes.BlockDevice{m, {Name: "sdb", Dev: probes.Dev{Major: 8, Minor: 16}, State: x.state}}}
		if x.edit != nil {
			x.edit(f)
		}
		s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"a": {Name: "a", Facts: f}}}
		view := snapshot.NewIndex(s).View("a")
		if got := view.NoPath(&view.Facts.Block[0]); got != x.dead {
			t.Errorf("%s: no path %t (%q)", name, got, view.DeadPath("sdb"))
		}
	}
}

func daemon(dead string) func(*probes.Facts) {
	return func(f *probes.Facts) {
		f.Multipath.Maps = []probes.MultipathMap{{Sysfs: "dm-3", Paths: []string{"sdb", "sdc"}, Dead: []string{dead}}}
	}
}

func reads(err string) func(*probes.Facts) {
	return func(f *probes.Facts) { f.Contents = map[probes.Dev]probes.Content{{Major: 8, Minor: 16}: {Err: err}} }
}
