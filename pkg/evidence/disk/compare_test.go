package disk

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
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

// TestBlank counts a disk as one that cannot be told apart only where nothing tells: the node's
// own, below whatever, is known, and a path of a multipath map by the map.
func TestBlank(t *testing.T) {
	t.Parallel()
	disk := func(name string, minor uint32, holders ...string) probes.BlockDevice {
		return probes.BlockDevice{Name: name, Dev: probes.Dev{Major: 8, Minor: minor}, Sectors: 100, Holders: holders}
	}
	part := disk("sda3", 3, "dm-0")
	part.Partition, part.Parent = 3, "sda"
	dm := func(name, uuid string, minor uint32) probes.BlockDevice {
		return probes.BlockDevice{Name: name, Dev: probes.Dev{Major: 253, Minor: minor}, DM: &probes.DM{Name: name, UUID: uuid}}
	}
	f := &probes.Facts{Block: []probes.BlockDevice{
		disk("sda", 0), part, dm("dm-0", "LVM-root", 0), disk("sdb", 16, "dm-1"), dm("dm-1", "mpath-3600a0980", 1), disk("sdc", 32, "dm-2"), dm("dm-2", "LVM-data", 2), disk("sdd", 48),
	}}
	f.Identity.InitMntNS = 1
	f.Namespaces = []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{ID: 1, Dev: probes.Dev{Major: 253}, Root: "/", Point: "/", FSType: "xfs"}}}}
	s := &snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n1": {Name: "n1", Facts: f}}}
	got := Compare(&snapshot.Volume{}, snapshot.NewIndex(s).View("n1"))
	if diff := cmp.Diff([]string{"sdc", "sdd"}, got.Blank); diff != "" {
		t.Errorf("blank disks (-want +got):\n%s", diff)
	}
}
