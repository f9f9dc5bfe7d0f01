package disk

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var sdc, dm2 = probes.Dev{Major: 8, Minor: 32}, probes.Dev{Major: 253, Minor: 2}

// machine is one with a disk sdc, changed.
func machine(change func(*probes.Facts)) *snapshot.Index {
	f := &probes.Facts{
		Identity:   probes.Identity{InitMntNS: 1},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1}},
		Processes:  []probes.Process{{PID: 1, MntNS: 1}, {PID: 7, MntNS: 1, Comm: "qemu"}},
		Block:      []probes.BlockDevice{{Name: "sdc", Dev: sdc, WWID: "naa.600000000000000000000000000000a1"}},
	}
	if change != nil {
		change(f)
	}
	return snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: f}}})
}

func hole(table probes.Table) func(*probes.Facts) {
	return func(f *probes.Facts) {
		f.Problems = append(f.Problems, probes.Problem{Table: table, Path: "proc/9", Text: "EACCES"})
	}
}

func above(f *probes.Facts) {
	f.Block = append(f.Block, probes.BlockDevice{Name: "dm-2", Dev: dm2, DM: &probes.DM{Name: "mpatha", UUID: "mpath-1"}, Slaves: []string{"sdc"}})
}

// TestQuestions asks of each question a yes, a no, and what it says when it cannot know.
func TestQuestions(t *testing.T) {
	t.Parallel()
	mount := func(dev probes.Dev) func(*probes.Facts) {
		return func(f *probes.Facts) {
			above(f)
			f.Namespaces = append(f.Namespaces, probes.MountNamespace{ID: 2, PIDs: []int{7}, TablePID: 7, Mounts: []probes.Mount{{Dev: dev, Point: "/x", Raw: "line"}}})
		}
	}
	open := func(f *probes.Facts) {
		f.Processes[1].Open = []probes.Descriptor{{Path: "proc/7/fd/3", Target: "/dev/sdc", Dev: sdc, Device: true}}
	}
	claim := func(text string) func(*probes.Facts) {
		return func(f *probes.Facts) { f.Claims = map[probes.Dev]string{sdc: text} }
	}
	ask := map[string]func(*snapshot.Index) evidence.Answer{
		"unmounted": func(x *snapshot.Index) evidence.Answer { return Unmounted(x, "n", sdc) },
		"closed":    func(x *snapshot.Index) evidence.Answer { return Closed(x, "n", sdc) },
		"bare":      func(x *snapshot.Index) evidence.Answer { return Bare(x, "n", sdc) },
		"bare but":  func(x *snapshot.Index) evidence.Answer { return Bare(x, "n", sdc, "dm-2") },
		"free":      func(x *snapshot.Index) evidence.Answer { return Free(x, "n", sdc) },
		"claimable": func(x *snapshot.Index) evidence.Answer { return Claimable(x, "n", sdc) },
		"known":     func(x *snapshot.Index) evidence.Answer { return Known(x, "n", sdc) },
		"elsewhere": func(x *snapshot.Index) evidence.Answer { return Free(x, "other", sdc) },
	}
	for _, tt := range []struct {
		name, question string
		change         func(*probes.Facts)
		want           string
	}{
		{"nothing mounts it", "unmounted", nil, "yes"},
		{"another namespace mounts it", "unmounted", mount(sdc), "no"},
		{"another namespace mounts a map over it", "unmounted", mount(dm2), "no"},
		{"its filesystem is alive", "unmounted", func(f *probes.Facts) { f.Superblocks = []probes.Superblock{{KName: "sdc", Locator: "sys/fs/ext4/sdc"}} }, "no"},
		{"a table was not read", "unmounted", hole(probes.Mounts), "unseen"},
		{"a namespace is kept by a bind mount only", "unmounted", func(f *probes.Facts) { f.NSRefs = []probes.NamespaceRef{{ID: 99}} }, "unseen"},
		{"it is not there", "unmounted", func(f *probes.Facts) { f.Block = nil }, "unseen"},
		{"nobody has it open", "closed", nil, "yes"},
		{"somebody has it open", "closed", open, "no"},
		{"a descriptor was not read", "closed", hole(probes.Descriptors), "unseen"},
		{"a process was not read", "closed", hole(probes.Processes), "unseen"},
		{"nothing lies on it", "bare", nil, "yes"},
		{"a map lies on it", "bare", above, "no"},
		{"only the named map lies on it", "bare but", above, "yes"},
		{"it is swap", "bare", func(f *probes.Facts) { f.Swaps = []probes.Swap{{Path: "/dev/sdc", Dev: sdc}} }, "no"},
		{"the devices were not read", "bare", hole(probes.Block), "unseen"},
		{"free", "free", nil, "yes"},
		{"open beats unread", "free", func(f *probes.Facts) { open(f); hole(probes.Mounts)(f) }, "no"},
		{"node not probed", "elsewhere", nil, "unseen"},
		{"exclusive open succeeds", "claimable", claim("free"), "yes"},
		{"exclusive open fails", "claimable", claim("EBUSY"), "no"},
		{"exclusive open was not tried", "claimable", nil, "unseen"},
		{"a WWID", "known", nil, "yes"},
		{"nothing to know it by", "known", func(f *probes.Facts) { f.Block[0].WWID = "" }, "unseen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := ask[tt.question](machine(tt.change))
			if got := a.String(); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.question, got, tt.want)
			}
			if !a.Unseen() && len(a.Facts()) == 0 || a.Unseen() && len(a.Lacks()) == 0 {
				t.Errorf("%s says %s without a reason", tt.question, tt.want)
			}
		})
	}
}

// TestStranger tells a disk that is not the volume's from one of which nothing is known.
func TestStranger(t *testing.T) {
	t.Parallel()
	volume := func(wwn string) *snapshot.Volume {
		return &snapshot.Volume{PV: &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{VolumeAttributes: map[string]string{"wwn": wwn}},
		}}}}
	}
	for name, tt := range map[string]struct {
		volume *snapshot.Volume
		change func(*probes.Facts)
		want   string
	}{
		"another identity":             {volume("600000000000000000000000000000a2"), nil, "yes"},
		"the volume's":                 {volume("600000000000000000000000000000a1"), nil, "no"},
		"the disk tells another one":   {volume("600000000000000000000000000000a1"), func(f *probes.Facts) { f.Block[0].VPD83 = "600000000000000000000000000000b7" }, "yes"},
		"the volume states none":       {volume(""), nil, "unseen"},
		"one of another kind":          {volume("50000000000000a2"), nil, "unseen"},
		"the disk has none":            {volume("600000000000000000000000000000a2"), func(f *probes.Facts) { f.Block[0].WWID = "" }, "unseen"},
		"the number belongs to nobody": {volume("600000000000000000000000000000a2"), func(f *probes.Facts) { f.Block = nil }, "unseen"},
	} {
		if got := Stranger(machine(tt.change), tt.volume, "n", sdc).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestMarks finds for each kind of device what tells it from a later one of its name.
func TestMarks(t *testing.T) {
	t.Parallel()
	x := machine(func(f *probes.Facts) {
		f.Block = append(f.Block, probes.BlockDevice{Name: "dm-2", DM: &probes.DM{Name: "mpatha", UUID: "mpath-1"}}, probes.BlockDevice{Name: "loop0", LoopFile: "/x (deleted)"},
			probes.BlockDevice{Name: "rbd0"}, probes.BlockDevice{Name: "md127", MDState: "clean", Slaves: []string{"sdc"}}, probes.BlockDevice{Name: "md1", MDState: "clean", Slaves: []string{"sdd"}}, probes.BlockDevice{Name: "md2", MDState: "inactive", Slaves: []string{"rbd0"}},
			probes.BlockDevice{Name: "nvme0n1", WWID: "uuid.1"}, probes.BlockDevice{Name: "sdd"})
		f.RBD = []probes.RBDDevice{{ID: "0", Name: "rbd0", Pool: "p", Image: "i"}}
	})
	view := x.View("n")
	for name, want := range map[string]string{
		"sdc": "/sys/class/block/sdc/device/wwid", "dm-2": "/sys/class/block/dm-2/dm/uuid", "loop0": "/sys/class/block/loop0/loop/backing_file",
		"rbd0": "/sys/bus/rbd/devices/0/pool", "md127": "/sys/class/block/md127/slaves/sdc/device/wwid", "nvme0n1": "/sys/class/block/nvme0n1/wwid", "md1": "", "sdd": "", "md2": "/sys/class/block/md2/slaves/rbd0/dev",
	} {
		got := ""
		if marks := Marks(view, view.ByName(name)); len(marks) > 0 {
			got = marks[0].Path
		}
		if got != want {
			t.Errorf("%s is known by %q, want %q", name, got, want)
		}
	}
}
