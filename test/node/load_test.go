//go:build node

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// TestFiftyThousandMounts fills the table of process 1, through which the agent reads
// everything.
func TestFiftyThousandMounts(t *testing.T) {
	const many = 50000
	d, point := volume(t)
	base := filepath.Join(t.TempDir(), "many")
	mount(t, "-t", "tmpfs", "-o", "nr_inodes=0", "tmpfs", base)
	t.Cleanup(func() {
		if err := unix.Unmount(base, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for i := range many {
		at := fmt.Sprintf("%s/%d", base, i)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(point, at, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("NOT TESTED: only %d mounts: %v", i, err)
		}
	}
	start(t, holderOptions{what: "file:" + base + "/49999"})
	begin := time.Now()
	f := look(t)
	took := time.Since(begin)
	t.Logf("%d mounts in %v", many, took.Round(time.Millisecond))
	var probing time.Duration
	for _, s := range f.Status {
		probing += s.Elapsed
	}
	t.Logf("of which the probes %v", probing.Round(time.Millisecond))
	if took > enough {
		t.Errorf("the agent took %v", took)
	}
	if got := len(mountsOf(f, d.dev)[f.Identity.InitMntNS]); got != many+1 {
		t.Errorf("%d mounts of the device, want %d", got, many+1)
	}
	if len(openers(f, d.dev)) != 1 {
		t.Error("the process with an open file on the last mount is not seen")
	}
	complete(t, f, probes.Mounts, probes.Processes, probes.Descriptors)
}

// TestChurn looks while processes come and go with namespaces and mounts of their
// own: what ended between two reads is no gap, and what stays is always seen.
func TestChurn(t *testing.T) {
	d, point := volume(t)
	for range 3 {
		start(t, holderOptions{what: "churn", namespace: true})
	}
	stays := start(t, holderOptions{what: "cwd:" + point, namespace: true})
	for range 4 {
		begin := time.Now()
		f, _ := lookAmid(t)
		if took := time.Since(begin); took > enough {
			t.Errorf("the agent took %v", took)
		}
		complete(t, f, probes.Mounts, probes.Processes, probes.Descriptors)
		if !slices.ContainsFunc(openers(f, d.dev), func(p probes.Process) bool { return p.PID == stays.pid }) {
			t.Error("the process that stays is not seen")
		}
		if len(mountsOf(f, d.dev)) < 2 {
			t.Errorf("mounts that stay: %v", mountsOf(f, d.dev))
		}
	}
}

// TestChangedRoot: a process that gave itself another root shows only what lies below
// it. Its namespace has another process, or is not known whole.
func TestChangedRoot(t *testing.T) {
	d, point := volume(t)
	empty := t.TempDir()
	start(t, holderOptions{what: "chroot:" + empty, namespace: true})
	command(t, "umount", point)
	f := look(t)
	if len(mountsOf(f, d.dev)) != 0 {
		t.Fatalf("the kernel shows more than it used to: %v", mountsOf(f, d.dev))
	}
	c := f.Completeness(probes.Mounts)
	if c.Complete() || len(c.Namespaces()) != 1 || !strings.Contains(c.Why(), empty) {
		t.Errorf("the namespace that could not be seen whole is not told: %q", c.Why())
	}
	if f.MountsOf(f.Identity.InitMntNS).Complete() == false {
		t.Error("the table of process 1 was read whole")
	}
}

// TestLeaderThatEnded: a process whose first thread has ended looks like a zombie and
// still holds everything.
func TestLeaderThatEnded(t *testing.T) {
	d, point := volume(t)
	h := start(t, holderOptions{what: "headless:" + point, namespace: true})
	command(t, "umount", point)
	f := look(t)
	if len(mountsOf(f, d.dev)) != 1 {
		t.Errorf("mounts: got %v, want that of the headless process", mountsOf(f, d.dev))
	}
	if !slices.ContainsFunc(openers(f, d.dev), func(p probes.Process) bool { return p.PID == h.pid }) {
		t.Error("what the headless process has open is not seen")
	}
}
