package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestUsesByNamespace(t *testing.T) {
	t.Parallel()
	line := func(dev probes.Dev, point, fs, source string) probes.Mount {
		return probes.Mount{Dev: dev, Root: "/", Point: point, FSType: fs, Source: source}
	}
	n := newNodeView("n", &probes.Facts{
		Identity: probes.Identity{InitMntNS: 10},
		Block:    []probes.BlockDevice{disk("sdb", 8, 16), disk("sdc", 8, 32)},
		Namespaces: []probes.MountNamespace{
			{ID: 20, PIDs: []int{77}, TablePID: 77, Mounts: []probes.Mount{line(probesDev(8, 16), "/host/a", "ext4", "/dev/sdb")}},
			{ID: 10, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{
				line(probesDev(8, 1), "/", "ext4", "/dev/sda1"), line(probesDev(0, 44), "/b", "btrfs", "/dev/sdc"), line(probesDev(8, 16), "/b/c", "ext4", "/dev/sdb"),
			}},
			{ID: 30, PIDs: []int{88}},
		},
		NSRefs: []probes.NamespaceRef{{ID: 40, HeldBy: "proc/5/fd/3"}, {ID: 20}},
	})
	if got := len(n.Uses(probesDev(8, 16))); got != 2 || !n.Uses(probesDev(8, 16))[0].Init {
		t.Errorf("uses of 8:16: got %d, want 2, init's first", got)
	}
	if got := n.ForeignUses(probesDev(8, 16)); len(got) != 1 || got[0].NS.ID != 20 {
		t.Errorf("foreign uses: got %v", got)
	}
	if got := n.InitUses(probesDev(8, 32)); len(got) != 1 || got[0].Mount.Point != "/b" {
		t.Errorf("btrfs by its source: got %v", got)
	}
	if got := n.Unread(); got != 2 || n.AllNamespacesRead() {
		t.Errorf("unread: got %d, want 2", got)
	}
	for path, want := range map[string]string{"/b/c/d": "/b/c", "/b/cd": "/b", "/x": "/", "/b": "/b"} {
		if m := n.Containing(path); m == nil || m.Point != want {
			t.Errorf("containing %s: got %v, want %s", path, m, want)
		}
	}
	if !n.Dead(probesDev(8, 99)) || n.Dead(probesDev(8, 16)) || n.Dead(probesDev(0, 44)) {
		t.Error("dead devices are misread")
	}
	if !n.Gone("sdz") || n.Gone("sdb") {
		t.Error("names that are gone are misread")
	}
	for name, f := range map[string]probes.Facts{
		"a list that was cut":       {Status: map[string]probes.ProbeState{"blockdev": {State: "timeout"}}},
		"a disk without its number": {Problems: []probes.Problem{{Probe: "blockdev", Path: "sys/class/block/sdz/dev", Text: "EACCES"}}},
	} {
		f.Block = []probes.BlockDevice{disk("sdb", 8, 16)}
		if v := newNodeView("n", &f); v.Dead(probesDev(8, 99)) || v.Gone("sdz") || v.AllDisks() {
			t.Errorf("%s: something is called gone", name)
		}
	}
}

func TestHoldersThroughLoops(t *testing.T) {
	t.Parallel()
	const file = "/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/pv1/dev/u1"
	loop, lv := disk("loop0", 7, 0), disk("dm-4", 253, 4)
	loop.LoopFile = file
	lv.DM, lv.Slaves = &probes.DM{Name: "guest-root", UUID: "LVM-x"}, []string{"loop0"}
	n := newNodeView("n", &probes.Facts{
		Block:       []probes.BlockDevice{disk("sdb", 8, 16), loop, lv},
		DeviceNodes: []probes.DeviceNode{{Path: "/dev/longhorn/pv1", Dev: probesDev(8, 16)}},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{
			{Dev: probesDev(0, 5), Root: "/longhorn/pv1", Point: file, FSType: "devtmpfs", Source: "udev"},
		}}},
	})
	var chains [][]string
	for _, h := range n.HoldersOf(probesDev(8, 16)) {
		chains = append(chains, h.Chain)
	}
	want := [][]string{{"sdb", "loop0"}, {"sdb", "loop0", "dm-4"}}
	if diff := cmp.Diff(want, chains); diff != "" {
		t.Errorf("chains mismatch (-want +got):\n%s", diff)
	}
	if leaves := n.Leaves(probesDev(253, 4)); len(leaves) != 1 || leaves[0].Name != "sdb" {
		t.Errorf("leaves: got %v", leaves)
	}
	if !n.Rests(probesDev(253, 4), probesDev(8, 16)) || n.Rests(probesDev(8, 16), probesDev(253, 4)) {
		t.Error("what rests on what is misread")
	}
}

func TestOpenersAndProcesses(t *testing.T) {
	t.Parallel()
	n := newNodeView("n", &probes.Facts{Processes: []probes.Process{
		{PID: 7, PodUID: "aa_bb", MntNS: 5, Open: []probes.Descriptor{{Path: "proc/7/fd/3", Dev: probesDev(8, 16)}}},
		{PID: 8, MntNS: 6},
	}})
	if got := n.Openers(probesDev(8, 16)); len(got) != 1 || got[0].Process.PID != 7 {
		t.Errorf("openers: got %v", got)
	}
	if got := n.ProcessesOfPod("aa-bb"); len(got) != 1 || len(n.ProcessesOfPod("")) != 0 {
		t.Errorf("processes of a pod: got %v", got)
	}
	if got := n.ProcessesIn(6); len(got) != 1 || got[0].PID != 8 || n.Process(9) != nil {
		t.Errorf("processes of a namespace: got %v", got)
	}
}
