package mountns

import (
	"context"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// TestEmptyTable: a living process has at least a root; of one that ends nothing is missed.
func TestEmptyTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stat  string
		whole bool
	}{
		"lives":   {"7 (app) S 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0", false},
		"ends":    {"7 (app) D 1 7 7 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0", true},
		"unknown": {"", false},
	} {
		recording := "-- proc/7/mountinfo --\n"
		if c.stat != "" {
			recording += "-- proc/7/stat --\n" + c.stat + "\n"
		}
		h, err := host.ParseRecording([]byte(recording))
		if err != nil {
			t.Fatal(err)
		}
		f := &probes.Facts{Processes: []probes.Process{{PID: 7, MntNS: 20}}}
		if err := Run(context.Background(), h, f); err != nil {
			t.Fatal(err)
		}
		if whole := len(f.Problems) == 0; whole != c.whole {
			t.Errorf("%s: whole %v, want %v: %v", name, whole, c.whole, f.Problems)
		}
	}
}

// TestLinesMissing: a mount is shown with its parent; only the root's own is out of reach.
func TestLinesMissing(t *testing.T) {
	t.Parallel()
	const (
		root    = "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n"
		over    = "24 21 8:3 / /var/lib rw shared:2 - ext4 /dev/sda3 rw\n"
		staging = "30 24 8:16 / /var/lib/kubelet/x rw shared:9 - ext4 /dev/sdb rw\n"
	)
	for name, c := range map[string]struct {
		table, root string
		whole       bool
	}{
		"whole":                         {root + over + staging, "", true},
		"in another order":              {staging + over + root, "", true},
		"a line in the middle":          {root + staging, "", false},
		"the first line":                {over + staging, "", false},
		"a root above another":          {root + "22 2 8:4 / / rw - ext4 /dev/sda4 rw\n", "", true},
		"the last line is torn":         {root + over + staging[:30] + "\n", "", false},
		"on what is not kept":           {root + "34 32 0:41 / /proc/fs/nfsd rw - nfsd nfsd rw\n37 36 0:30 / /sys/fs/cgroup/x rw - cgroup2 none rw\n" + over + staging, "", true},
		"a process in a root of others": {staging, "-- proc/7/root --\n@link /host\n", false},
	} {
		h, err := host.ParseRecording([]byte("-- proc/7/mountinfo --\n" + c.table + c.root))
		if err != nil {
			t.Fatal(err)
		}
		f := &probes.Facts{Processes: []probes.Process{{PID: 7, MntNS: 20}}}
		if err := Run(context.Background(), h, f); err != nil {
			t.Fatal(err)
		}
		if whole := len(f.Problems) == 0; whole != c.whole || c.root != "" && len(f.Problems) != 1 {
			t.Errorf("%s: whole %v, want %v: %v", name, whole, c.whole, f.Problems)
		}
	}
}
