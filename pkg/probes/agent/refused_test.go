package agent

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// refusing is a machine that refuses to show some paths.
type refusing struct {
	host.Host
	refuse func(path string) bool
	err    error
}

func (r refusing) ReadFile(p string, limit int) ([]byte, error) {
	if r.refuse(p) {
		return nil, r.err
	}
	return r.Host.ReadFile(p, limit)
}

func (r refusing) ReadDir(p string) ([]string, error) {
	if r.refuse(p) {
		return nil, r.err
	}
	return r.Host.ReadDir(p)
}

func (r refusing) ReadLink(p string) (string, error) {
	if r.refuse(p) {
		return "", r.err
	}
	return r.Host.ReadLink(p)
}

func recordings(tb testing.TB) []string {
	tb.Helper()
	cases, err := filepath.Glob("../../../testdata/cases/*/nodes/*.txtar")
	if err != nil || len(cases) == 0 {
		tb.Fatalf("no recordings: %v", err)
	}
	return append(kernels(tb), cases...)
}

var tables = []probes.Table{
	probes.Mounts, probes.Processes, probes.Descriptors, probes.Block, probes.DeviceNodes, probes.Swaps, probes.Superblocks, probes.Files,
	probes.KubeletDirs, probes.Sessions, probes.NVMeDevices, probes.RBDDevices, probes.Maps, probes.NFSClient, probes.Contents, probes.Machine,
}

// TestRecordingsAreComplete: what stands in a recording that nobody cut was read.
func TestRecordingsAreComplete(t *testing.T) {
	t.Parallel()
	for _, path := range recordings(t) {
		f := Gather(t.Context(), open(t, path))
		for _, table := range tables {
			if c := f.Completeness(table); !c.Complete() && !strings.Contains(path, "unreadable") {
				t.Errorf("%s: %s: %s", path, table, c.Why())
			}
		}
	}
}

// TestRefusalIsPartial refuses one kind of entry after the other in every recording:
// the table that it belongs to is partial then, in the recording's replay, too.
func TestRefusalIsPartial(t *testing.T) {
	t.Parallel()
	part := func(path string, n int) string {
		parts := strings.Split(path, "/")
		if parts[0] != "proc" || len(parts) <= n {
			return ""
		}
		return strings.Join(parts[n:], "/")
	}
	kinds := []struct {
		name   string
		table  probes.Table
		refuse func(path string) bool
	}{
		{"namespaces", probes.Mounts, func(p string) bool { return part(p, 2) == "ns/mnt" && !strings.HasPrefix(p, "proc/1/") }},
		{"mount tables", probes.Mounts, func(p string) bool { return part(p, 2) == "mountinfo" }},
		{"descriptors", probes.Descriptors, func(p string) bool { return part(p, 2) == "fd" }},
		{"one descriptor", probes.Descriptors, func(p string) bool { return strings.HasPrefix(part(p, 2), "fd/") }},
		{"working directories", probes.Descriptors, func(p string) bool { return part(p, 2) == "cwd" }},
		{"processes", probes.Processes, func(p string) bool { return part(p, 2) == "stat" && !strings.HasPrefix(p, "proc/1/") }},
		{"control groups", probes.Sessions, func(p string) bool { return part(p, 2) == "cgroup" && !strings.HasPrefix(p, "proc/1/") }},
		{"devices", probes.Block, func(p string) bool { return strings.HasPrefix(p, "sys/class/block/") && strings.HasSuffix(p, "/dev") }},
		{"holders", probes.Block, func(p string) bool { return strings.HasSuffix(p, "/holders") }},
		{"nodes", probes.DeviceNodes, func(p string) bool { return p == "dev" || strings.HasPrefix(p, "dev/") }},
		{"filesystems", probes.Superblocks, func(p string) bool { return strings.HasPrefix(p, "sys/fs/ext4") }},
		{"sessions", probes.Sessions, func(p string) bool { return strings.HasPrefix(p, "sys/class/iscsi_session") }},
		{"files", probes.Files, func(p string) bool { return strings.HasPrefix(p, "etc/") }},
	}
	const step, enough = 7, 5 // each kind meets another part of the recordings; .ci/run takes the whole part
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			touched := 0
			all := recordings(t)
			for n := i % step; n < len(all) && (touched < enough || os.Getenv("ALL_LOSSES") != ""); n += step {
				path, met := all[n], false
				recorder := NewRecorder(refusing{open(t, path), func(p string) bool {
					hit := k.refuse(p)
					met = met || hit
					return hit
				}, syscall.EACCES})
				f := Gather(t.Context(), recorder)
				if !met {
					continue
				}
				touched++
				if f.Completeness(k.table).Complete() {
					t.Errorf("%s: the table %s is complete", path, k.table)
				}
				if c := replay(t, recorder, f).Completeness(k.table); c.Complete() {
					t.Errorf("%s: the table %s is complete in the replay", path, k.table)
				}
			}
			if touched < 3 {
				t.Errorf("only %d recordings have such entries: the test proves nothing", touched)
			}
		})
	}
}

func replay(t *testing.T, r *host.Recorder, f *probes.Facts) *probes.Facts {
	t.Helper()
	var text bytes.Buffer
	if err := WriteRecording(&text, r, f); err != nil {
		t.Fatal(err)
	}
	again, err := host.ParseRecording(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return Gather(t.Context(), again)
}

// TestReplayTellsWhatWasLeftOut: what no entry can show is told by the recording:
// that a probe did not end, and what was beyond its bounds.
func TestReplayTellsWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	recorder := NewRecorder(open(t, kernels(t)[0]))
	f := Gather(t.Context(), recorder)
	f.Status["process"] = probes.ProbeState{State: statePartial, Detail: "read processes, 9 so far:\ncontext deadline exceeded"}
	f.Status["kmsg"] = probes.ProbeState{State: stateTimeout, Detail: "no result within 10s"}
	f.Problems = append(f.Problems, probes.Problem{Probe: "kubelet", Path: "var/lib/kubelet", Text: "12 directory entries were not visited", Count: 12})
	got := replay(t, recorder, f)
	for _, tt := range []struct {
		table probes.Table
		want  string
	}{
		{probes.Mounts, "the mounts could not be read whole (read processes, 9 so far: context deadline exceeded)"},
		{probes.KernelLog, "the kernel log could not be read whole (no result within 10s)"},
		{probes.NVMeDevices, ""},
	} {
		if why := got.Completeness(tt.table).Why(); why != tt.want {
			t.Errorf("%s: got %q, want %q", tt.table, why, tt.want)
		}
	}
	left := got.Completeness(probes.KubeletDirs).Only(func(p probes.Problem) bool { return p.Path != "" })
	if left.Count() != 12 || left.Gaps()[0].Probe != "kubelet" {
		t.Errorf("directories of the kubelet: %q", left.Why())
	}
}

// TestEndedIsNoGap: what a process refused that has ended since is not missing.
func TestEndedIsNoGap(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, stat, want string }{
		{"it lives", "77 (a) S 1 77 77 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1", "EACCES"},
		{"it is ending", "77 (a) R 1 77 77 0 -1 4194564 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1", ""},
		{"it is a zombie", "77 (a) Z 1 77 77 0 -1 4194564 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1", ""},
		{"its leader has ended, a thread has not", "77 (a) Z 1 77 77 0 -1 4194564 0 0 0 0 0 0 0 0 20 0 2 0 1 0 0 1", "EACCES"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, err := host.ParseRecording([]byte("-- proc/77/stat --\n" + tt.stat + "\n-- proc/77/fd --\n@error EACCES\n-- proc/77/cmdline --\n@hang\n"))
			if err != nil {
				t.Fatal(err)
			}
			f := &probes.Facts{Status: map[string]probes.ProbeState{}}
			Step(t.Context(), h, Probe{"openfiles", time.Minute, func(_ context.Context, h host.Host, _ *probes.Facts) error {
				_, _ = h.ReadDir("proc/77/fd")
				_, _ = h.ReadFile("proc/77/cmdline", 0)
				return nil
			}}, f)
			got := ""
			for _, p := range f.Problems {
				if p.PID != 77 {
					t.Errorf("whose: %+v", p)
				}
				if p.Table != probes.Details {
					got += p.Text
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
