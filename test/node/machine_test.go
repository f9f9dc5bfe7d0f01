//go:build node

package node

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
)

// device is a loop device over a file of this test.
type device struct {
	path, name string
	dev        probes.Dev
}

// command runs a tool and returns its output; it ends the test on an error.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// disk makes a loop device of 16 MiB.
func disk(t *testing.T) device {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(file, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return loop(t, file)
}

func loop(t *testing.T, file string) device {
	t.Helper()
	path := command(t, "losetup", "--find", "--show", file)
	t.Cleanup(func() { command(t, "losetup", "--detach", path) })
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	number := probes.Dev{Major: unix.Major(uint64(st.Rdev)), Minor: unix.Minor(uint64(st.Rdev))}
	return device{path, filepath.Base(path), number}
}

// volume is a disk with ext4 that is mounted at a fresh directory.
func volume(t *testing.T) (d device, point string) {
	t.Helper()
	d = disk(t)
	command(t, "mkfs.ext4", "-q", "-F", d.path)
	point = filepath.Join(t.TempDir(), "volume")
	mount(t, d.path, point)
	return d, point
}

func mount(t *testing.T, args ...string) {
	t.Helper()
	point := args[len(args)-1]
	if err := os.MkdirAll(point, 0o755); err != nil {
		t.Fatal(err)
	}
	command(t, "mount", args...)
	t.Cleanup(func() {
		if mounted(t, point) {
			command(t, "umount", point)
		}
	})
}

func mounted(t *testing.T, point string) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(table, []byte(" "+point+" "))
}

// look runs the agent and decodes its answer; it must have left nothing behind.
func look(t *testing.T, args ...string) *probes.Facts {
	t.Helper()
	f, _ := lookAndRecord(t, args...)
	return f
}

func lookAndRecord(t *testing.T, args ...string) (*probes.Facts, []byte) {
	t.Helper()
	before := traces(t)
	f, recording := lookAmid(t, args...)
	if after := traces(t); before != after {
		t.Errorf("the agent left something behind.\nbefore:\n%s\nafter:\n%s", before, after)
	}
	return f, recording
}

// lookAmid runs the agent while others change the machine.
func lookAmid(t *testing.T, args ...string) (*probes.Facts, []byte) {
	t.Helper()
	c := exec.Command(os.Getenv(agentEnv), args...)
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil {
		t.Fatalf("agent: %v: %s", err, complaints.String())
	}
	f, recording, err := agent.ReadFrames(&out, 1<<30, "")
	if err != nil {
		t.Fatalf("read frames: %v", err)
	}
	for name, s := range f.Status {
		if s.State != "ok" {
			t.Errorf("probe %s: %s: %s", name, s.State, s.Detail)
		}
	}
	return f, recording
}

// traces are the things that a program can leave on a machine.
func traces(t *testing.T) string {
	t.Helper()
	table, err := os.ReadFile("/proc/1/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	modules, _ := os.ReadFile("/proc/modules")
	var names []string
	for line := range strings.Lines(string(modules)) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(string(table), command(t, "losetup", "--list", "--noheadings"), names, len(all))
}

// processes returns those that keep something of a device open.
func openers(f *probes.Facts, d probes.Dev) (list []probes.Process) {
	for _, p := range f.Processes {
		if slices.ContainsFunc(p.Open, func(o probes.Descriptor) bool { return o.Dev == d }) {
			list = append(list, p)
		}
	}
	return list
}

// mountsOf returns the mounts of a device by namespace.
func mountsOf(f *probes.Facts, d probes.Dev) map[uint64][]string {
	m := map[uint64][]string{}
	for _, ns := range f.Namespaces {
		for _, mount := range ns.Mounts {
			if mount.Dev == d {
				m[ns.ID] = append(m[ns.ID], mount.Point)
			}
		}
	}
	return m
}

func alive(f *probes.Facts, name string) bool {
	return slices.ContainsFunc(f.Superblocks, func(s probes.Superblock) bool { return s.KName == name })
}
