package lvm

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestGroup asks of a group inside a disk: is it free, does it lie there alone.
func TestGroup(t *testing.T) {
	t.Parallel()
	group := "LVM-" + strings.Repeat("g", 32)
	lv := func(name string, minor uint32, slave string) probes.BlockDevice {
		return probes.BlockDevice{Name: name, Dev: probes.Dev{Major: 253, Minor: minor}, Slaves: []string{slave}, DM: &probes.DM{Name: "guest-" + name, UUID: group + strings.Repeat(name[len(name)-1:], 32)}}
	}
	sdb := probes.Dev{Major: 8, Minor: 16}
	for name, tt := range map[string]struct {
		change       func(*probes.Facts)
		free, inside string
	}{
		"alone and free": {func(*probes.Facts) {}, "yes", "yes"},
		"a volume of it is mounted": {func(f *probes.Facts) {
			f.Namespaces[0].Mounts = []probes.Mount{{Dev: probes.Dev{Major: 253, Minor: 4}, Point: "/x", Raw: "line"}}
		}, "no", "yes"},
		"a volume of it is open": {func(f *probes.Facts) {
			f.Processes[0].Open = []probes.Descriptor{{Path: "proc/1/fd/3", Dev: probes.Dev{Major: 253, Minor: 4}, Device: true}}
		}, "no", "yes"},
		"it spans another disk": {func(f *probes.Facts) {
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdz", Dev: probes.Dev{Major: 65}}, lv("dm-5", 5, "sdz"))
		}, "yes", "no"},
		"it lies on a partition": {func(f *probes.Facts) {
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdb1", Dev: probes.Dev{Major: 8, Minor: 17}, Parent: "sdb", Partition: 1}, lv("dm-6", 6, "sdb1"))
		}, "yes", "yes"},
		"the host's own group has its name": {func(f *probes.Facts) {
			own := lv("dm-7", 7, "sdz")
			own.DM.UUID = "LVM-" + strings.Repeat("h", 64)
			f.Block = append(f.Block, probes.BlockDevice{Name: "sdz", Dev: probes.Dev{Major: 65}}, own)
		}, "yes", "no"},
		"mounts unread":  {func(f *probes.Facts) { f.Problems = []probes.Problem{{Table: probes.Mounts, Text: "EACCES"}} }, "unseen", "yes"},
		"devices unread": {func(f *probes.Facts) { f.Problems = []probes.Problem{{Table: probes.Block, Text: "EACCES"}} }, "unseen", "unseen"},
	} {
		f := &probes.Facts{
			Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}}, Processes: []probes.Process{{PID: 1, MntNS: 1}},
			Block: []probes.BlockDevice{{Name: "sdb", Dev: sdb}, lv("dm-3", 3, "sdb"), lv("dm-4", 4, "sdb")},
		}
		tt.change(f)
		x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Facts: f}}})
		first := x.View("n").ByName("dm-3")
		if free, inside := Free(x, "n", first).String(), Inside(x, "n", first, sdb).String(); free != tt.free || inside != tt.inside {
			t.Errorf("%s: free %s, inside %s; want %s, %s", name, free, inside, tt.free, tt.inside)
		}
	}
	x := snapshot.NewIndex(&snapshot.Snapshot{})
	if a := Free(x, "n", &probes.BlockDevice{Name: "dm-3"}); !a.Unseen() {
		t.Errorf("a node that was not probed: %s", a.String())
	}
}
