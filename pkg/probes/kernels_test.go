package probes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

var sda, sdb, vda = probes.Dev{Major: 8}, probes.Dev{Major: 8, Minor: 16}, probes.Dev{Major: 254}

// TestKernels asserts on recordings of a real kernel what tells one failure from
// its neighbours.
func TestKernels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		snapshot string
		check    func(t *testing.T, f *probes.Facts)
	}{
		{"a-healthy/02-attached-not-mounted", func(t *testing.T, f *probes.Facts) {
			d := block(t, f, "sda")
			first, others := mounts(f, sda)
			want(t, "holders", len(d.Holders), 0)
			want(t, "state", d.State, "running")
			want(t, "claim", f.Claims[sda], "free")
			want(t, "mount lines", len(first)+len(others), 0)
			want(t, "address", d.HCTL, "0:0:0:1")
			want(t, "wwid", d.WWID, "naa.60000000000000000e00000000010001")
			want(t, "serial of page 0x80", d.Serial, "beaf11")
			want(t, "page 0x83", strings.HasPrefix(d.VPD83, "0083"), true)
			want(t, "live superblock", superblockOf(f, "sda") == nil, true)
		}},
		{"a-healthy/03-mounted", func(t *testing.T, f *probes.Facts) {
			first, _ := mounts(f, sda)
			want(t, "mount lines", len(first), 2)
			want(t, "claim", f.Claims[sda], "EBUSY")
			want(t, "journal", superblockOf(f, "sda").Journal, true)
			want(t, "errors", superblockOf(f, "sda").ErrorsCount, 0)
			want(t, "node of the volume", volumeNode(f), sda)
		}},
		{"b-multipath/01-claimed", func(t *testing.T, f *probes.Facts) {
			d := block(t, f, "sda")
			first, others := mounts(f, sda)
			want(t, "mount lines", len(first)+len(others), 0)
			want(t, "holders", strings.Join(d.Holders, " "), "dm-0")
			want(t, "uuid of the holder", strings.HasPrefix(block(t, f, "dm-0").DM.UUID, "mpath-"), true)
			want(t, "slaves", strings.Join(block(t, f, "dm-0").Slaves, " "), "sda")
			want(t, "claim of the disk", f.Claims[sda], "EBUSY")
			want(t, "claim of the map", f.Claims[block(t, f, "dm-0").Dev], "free")
			want(t, "udev knows the path", strings.Contains(strings.Join(f.Udev[sda], "\n"), "DM_MULTIPATH_DEVICE_PATH=1"), true)
			want(t, "opener", opener(f, sda), "multipathd")
		}},
		{"c-fix/04-daemon-gone-map-stays", func(t *testing.T, f *probes.Facts) {
			want(t, "holders", len(block(t, f, "sda").Holders), 1)
			want(t, "opener", opener(f, block(t, f, "sda").Dev), "")
			want(t, "daemon", running(f, "multipathd"), false)
		}},
		{"c-fix/02-fixed-device", func(t *testing.T, f *probes.Facts) {
			want(t, "daemon", running(f, "multipathd"), true)
			for _, d := range f.Block {
				want(t, "holders of "+d.Name, len(d.Holders), 0)
			}
		}},
		{"b3-samewwid/01-merged", func(t *testing.T, f *probes.Facts) {
			for _, d := range f.Block {
				if d.DM != nil && len(d.Slaves) == 2 {
					want(t, "both disks have one wwid", block(t, f, d.Slaves[0]).WWID, block(t, f, d.Slaves[1]).WWID)
					return
				}
			}
			t.Error("no map with two slaves")
		}},
		{"d-privns/01-unmounted-on-host-held-by-private-ns", func(t *testing.T, f *probes.Facts) {
			first, others := mounts(f, sda)
			want(t, "holders", len(block(t, f, "sda").Holders), 0)
			want(t, "lines in the first namespace", len(first), 0)
			want(t, "a line elsewhere", len(others) > 0 && others[0].Private(), true)
			want(t, "journal", superblockOf(f, "sda").Journal, true)
		}},
		{"d-privns/02-logged-out-while-pinned", func(t *testing.T, f *probes.Facts) {
			for _, d := range f.Block {
				want(t, d.Name+" is not sda", d.Name != "sda", true)
			}
			sb := superblockOf(f, "sda")
			want(t, "superblock outlives the disk", sb != nil && sb.Sysfs, true)
		}},
		{"d-privns/04-reattached", func(t *testing.T, f *probes.Facts) {
			_, old := mounts(f, sda)
			first, slave := mounts(f, sdb)
			want(t, "old number elsewhere", len(old), 2)
			want(t, "new number here", len(first), 1)
			want(t, "the other namespace follows", len(slave) == 1 && slave[0].Master > 0, true)
			want(t, "node of the volume", volumeNode(f), sdb)
		}},
		{"e-targetdeath/02-t12s-session-failed", func(t *testing.T, f *probes.Facts) {
			want(t, "state", block(t, f, "sda").State, "blocked")
			want(t, "errors", superblockOf(f, "sda").ErrorsCount, 0)
			want(t, "hanging journal thread", waits(f, "jbd2/sda-8"), "jbd2_journal_wait_updates")
		}},
		{"e-targetdeath/04-t130s-recovery-timed-out", func(t *testing.T, f *probes.Facts) {
			sb := superblockOf(f, "sda")
			first, _ := mounts(f, sda)
			want(t, "state", block(t, f, "sda").State, "transport-offline")
			want(t, "errors counted", sb.ErrorsCount > 0, true)
			want(t, "where", attrOf(sb.Attrs, "last_error_func"), "ext4_journal_check_start")
			want(t, "the table still says rw", first[0].HasSuper("rw"), true)
		}},
		{"e-targetdeath/07-new-disk-old-mount", func(t *testing.T, f *probes.Facts) {
			first, _ := mounts(f, sda)
			want(t, "lines of the old number", len(first) > 0, true)
			want(t, "number of the volume", volumeNode(f), sdb)
			for _, d := range f.Block {
				want(t, d.Name+" has another number", d.Dev != sda, true)
			}
		}},
		{"e3-xfs/02-timed-out", func(t *testing.T, f *probes.Facts) {
			want(t, "type", superblockOf(f, "sda").FSType, "xfs")
			want(t, "state", block(t, f, "sda").State, "transport-offline")
		}},
		{"f-holders/01-lvm-active", func(t *testing.T, f *probes.Facts) {
			d := block(t, f, "sda")
			want(t, "holder", strings.HasPrefix(block(t, f, d.Holders[0]).DM.UUID, "LVM-"), true)
		}},
		{"f-holders/02-md-incremental", func(t *testing.T, f *probes.Facts) {
			d := block(t, f, block(t, f, "sda").Holders[0])
			want(t, "holder", d.Name, "md127")
			want(t, "array", d.MDState != "", true)
		}},
		{"f-holders/04-luks-mounted", func(t *testing.T, f *probes.Facts) {
			d := block(t, f, block(t, f, "sda").Holders[0])
			first, _ := mounts(f, d.Dev)
			want(t, "holder", strings.HasPrefix(d.DM.UUID, "CRYPT-LUKS2-"), true)
			want(t, "the mapper is mounted", len(first) > 0, true)
		}},
		{"f-holders/06-partition-mounted", func(t *testing.T, f *probes.Facts) {
			p := block(t, f, "sda1")
			first, _ := mounts(f, p.Dev)
			want(t, "parent", p.Parent, "sda")
			want(t, "lines", len(first) > 0, true)
			want(t, "holders", len(block(t, f, "sda").Holders), 0)
		}},
		{"f-holders/07-swap", func(t *testing.T, f *probes.Facts) {
			want(t, "swaps", len(f.Swaps), 1)
			want(t, "number", f.Swaps[0].Dev, sda)
		}},
		{"f-holders/08-loop", func(t *testing.T, f *probes.Facts) {
			for _, d := range f.Block {
				if strings.HasPrefix(d.LoopFile, "/dev/") {
					return
				}
			}
			t.Error("no loop over the disk")
		}},
		{"f-holders/09-oexcl-opener", func(t *testing.T, f *probes.Facts) {
			want(t, "opener", opener(f, sda), "python3")
			want(t, "claim", f.Claims[sda], "EBUSY")
			want(t, "flags", flagsOf(f, sda) != 0, true)
		}},
		{"f-holders/10-plain-opener", func(t *testing.T, f *probes.Facts) {
			want(t, "opener", opener(f, sda), "python3")
			want(t, "claim", f.Claims[sda], "free")
		}},
		{"f-holders/11-mounted-elsewhere", func(t *testing.T, f *probes.Facts) {
			first, _ := mounts(f, sda)
			want(t, "a line", len(first) > 0, true)
			want(t, "outside the kubelet", strings.HasPrefix(first[0].Point, "/var/lib/kubelet"), false)
		}},
		{"h-fs/01-admin-remount-ro", func(t *testing.T, f *probes.Facts) {
			first, _ := mounts(f, sda)
			want(t, "ro", first[0].HasSuper("ro") || first[0].HasOption("ro"), true)
			want(t, "errors", superblockOf(f, "sda").ErrorsCount, 0)
		}},
		{"h-fs/02-error-remount-ro", func(t *testing.T, f *probes.Facts) {
			want(t, "errors counted", superblockOf(f, "sda").ErrorsCount > 0, true)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.snapshot, func(t *testing.T) {
			t.Parallel()
			tt.check(t, kernel(t, tt.snapshot))
		})
	}
}

// TestKernelsWhole runs the probes over every snapshot: nothing unreadable, the
// machine's own disk always mounted.
func TestKernelsWhole(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/kernels/*/*.txtar")
	if len(files) < 60 {
		t.Fatalf("%d snapshots, want 60 or more", len(files))
	}
	for _, file := range files {
		f := gather(t, open(t, file))
		for _, p := range f.Problems {
			t.Errorf("%s: problem: %+v", file, p)
		}
		if first, _ := mounts(f, vda); len(first) == 0 {
			t.Errorf("%s: the root disk is not mounted", file)
		}
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func volumeNode(f *probes.Facts) probes.Dev {
	for _, n := range f.DeviceNodes {
		if strings.HasPrefix(n.Path, "/dev/longhorn/") {
			return n.Dev
		}
	}
	return probes.Dev{}
}

func opener(f *probes.Facts, dev probes.Dev) string {
	for _, p := range f.Processes {
		for _, o := range p.Open {
			if o.Device && o.Dev == dev {
				return p.Comm
			}
		}
	}
	return ""
}

func flagsOf(f *probes.Facts, dev probes.Dev) uint64 {
	for _, p := range f.Processes {
		for _, o := range p.Open {
			if o.Dev == dev && o.Flags != 0 {
				return o.Flags
			}
		}
	}
	return 0
}

func running(f *probes.Facts, comm string) bool {
	for _, p := range f.Processes {
		if p.Comm == comm {
			return true
		}
	}
	return false
}

func waits(f *probes.Facts, comm string) string {
	for _, p := range f.Processes {
		if p.Comm == comm && p.State == "D" {
			return p.WChan
		}
	}
	return ""
}

func attrOf(list []probes.Attr, name string) string {
	for _, a := range list {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}
