//go:build linux

package live

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

func TestForbidden(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path   string
		follow bool
		want   bool
	}{
		{"proc/77/mountinfo", true, false},
		{"proc/77/cwd", false, false},
		{"proc/77/cwd", true, true},
		{"proc/77/root/etc/passwd", false, true},
		{"proc/77/fd", true, false},
		{"proc/77/fd/3", false, false},
		{"proc/77/fd/3", true, true},
		{"proc/77/fd/3/below", false, true},
		{"proc/77/task/78/cwd/x", false, true},
		{"proc/77/task/78/stat", true, false},
		{"proc/77/map_files/00-01", true, true},
		{"proc/77/fdinfo/3", true, false},
		{"proc/self/mountinfo", true, true},
		{"proc/kmsg", true, true},
		{"proc/sys/fs/binfmt_misc", true, true},
		{"proc/sys/kernel/osrelease", true, false},
		{"sys/kernel/debug/tracing/trace_pipe", true, true},
		{"etc/fstab", true, false},
	}
	for _, tt := range tests {
		if got := forbidden(tt.path, tt.follow); got != tt.want {
			t.Errorf("%s (follow %v): got %v, want %v", tt.path, tt.follow, got, tt.want)
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"proc/77/stat": true, "proc/77/fd/3": true, "proc/77/ns/mnt": true,
		"proc/77/cmdline": false, "proc/77/mountinfo": false, "proc/77/cgroup": false, "proc/modules": false,
		"sys/block/sda/stat": false, "etc/fstab": false,
	} {
		if got := prompt(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestWithinAbandonsWhatHangs(t *testing.T) {
	t.Parallel()
	h := New(time.Millisecond)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hang := func() (int, error) { <-release; return 1, nil }
	for i := range maxAbandoned {
		if _, err := within(h, h.deadline, hang); !errors.Is(err, host.ErrHang) {
			t.Fatalf("call %d: got %v, want %v", i, err, host.ErrHang)
		}
	}
	if h.Abandoned() != maxAbandoned {
		t.Errorf("abandoned: got %d, want %d", h.Abandoned(), maxAbandoned)
	}
	asked := false
	if _, err := within(h, time.Minute, func() (int, error) { asked = true; return 1, nil }); !errors.Is(err, host.ErrHang) || asked {
		t.Errorf("after too many hanging calls: got %v, asked %v", err, asked)
	}
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	big := make([]byte, 100<<10)
	for i := range big {
		big[i] = byte(i)
	}
	path := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(path, big, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limit, want int
		err         error
	}{{1 << 20, len(big), nil}, {len(big), len(big), nil}, {len(big) - 1, len(big) - 1, host.ErrCut}, {10, 10, host.ErrCut}} {
		fd, err := open(path, unix.O_RDONLY)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(fd, tt.limit)
		unix.Close(fd)
		if string(got) != string(big[:tt.want]) || !errors.Is(err, tt.err) {
			t.Errorf("limit %d: got %d bytes, %v; want %d, %v", tt.limit, len(got), err, tt.want, tt.err)
		}
	}
}

func TestMultipathdRefusesOtherCommands(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"reconfigure", "shutdown", "show maps\nshutdown", "flush map mpatha", "show", ""} {
		if _, err := New(0).Multipathd(command); err == nil {
			t.Errorf("%q was sent", command)
		}
	}
}

// TestWalkStaysInside needs to see process 1's root.
func TestWalkStaysInside(t *testing.T) {
	t.Parallel()
	if _, err := os.ReadDir(root); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	h := New(0)
	dir := t.TempDir()
	if err := os.Symlink("../../../../../../../../../../etc/hostname", filepath.Join(dir, "up")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("self", filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReadFile(filepath.Join(dir, "self")[1:], 0); !errors.Is(err, unix.ELOOP) {
		t.Errorf("loop of links: got %v, want %v", err, unix.ELOOP)
	}
	want, err := os.ReadFile("/etc/hostname")
	got, readErr := h.ReadFile(filepath.Join(dir, "up")[1:], 0)
	if err == nil && (string(got) != string(want) || readErr != nil) {
		t.Errorf("link upwards: got %q, %v; want %q", got, readErr, want)
	}
	if _, err := h.ReadFile("dev/null", 0); !errors.Is(err, unix.ENXIO) {
		t.Errorf("device: got %v, want %v", err, unix.ENXIO)
	}
}
