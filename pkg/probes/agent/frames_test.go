package agent

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const limit = 64 << 20

// open returns the recording of a node.
func open(t testing.TB, path string) *host.Recorded {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := host.ParseRecording(data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

// kernels are recordings of a real kernel.
func kernels(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../testdata/kernels/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return files
}

func stream(t testing.TB, h host.Host, record bool) ([]byte, *probes.Facts) {
	t.Helper()
	var out bytes.Buffer
	f, err := Stream(context.Background(), h, &out, record, "")
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), f
}

// same compares facts; an empty list and no list are the same after JSON.
func same(want, got *probes.Facts) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

func TestFramesBringTheFacts(t *testing.T) {
	t.Parallel()
	for _, path := range kernels(t) {
		out, want := stream(t, open(t, path), true)
		got, recording, err := ReadFrames(strings.NewReader("Last login: today\n$ "+string(out)), limit, "")
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if diff := same(want, got); diff != "" {
			t.Errorf("%s: facts mismatch (-want +got):\n%s", path, diff)
		}
		if len(recording) == 0 {
			t.Errorf("%s: no recording arrived", path)
		}
	}
}

func TestCutOutputKeepsWhatArrived(t *testing.T) {
	t.Parallel()
	out, want := stream(t, open(t, kernels(t)[0]), false)
	for cut := 0; cut < len(out); cut += max(1, len(out)/200) {
		got, _, err := ReadFrames(bytes.NewReader(out[:cut]), limit, "")
		if !errors.Is(err, ErrTruncated) {
			t.Errorf("cut at %d: got error %v, want %v", cut, err, ErrTruncated)
		}
		for name, state := range got.Status {
			if want.Status[name] != state {
				t.Errorf("cut at %d: state of %s is %v, want %v", cut, name, state, want.Status[name])
			}
		}
		if got.Status["mountns"].State != "" && len(got.Namespaces) != len(want.Namespaces) {
			t.Errorf("cut at %d: mountns arrived with %d of %d tables", cut, len(got.Namespaces), len(want.Namespaces))
		}
	}
}

func TestReadFramesRefuses(t *testing.T) {
	t.Parallel()
	out, _ := stream(t, open(t, kernels(t)[0]), false)
	tests := []struct {
		name, in, want string
		limit          int64
	}{
		{"nothing", "", "no answer", limit},
		{"a shell's complaint", "sh: /tmp/agent: Exec format error\n", "Exec format error", limit},
		{"size beyond the limit", magic + "\nframe a ok 999999999999 00\n", "not believable", limit},
		{"negative size", magic + "\nframe a ok -1 00\n", "not believable", limit},
		{"size without bytes", magic + "\nframe a ok 100000 00\nabc", "of 100000 bytes", limit},
		{"wrong checksum", magic + "\nframe a ok 3 00\nabc\nend 1 00\n", "checksum", limit},
		{"garbage after a frame", magic + "\nhello\n", "is no frame", limit},
		{"lost frame", magic + "\nend 3 00\n", "3 were sent", limit},
		{"more than the reader takes", string(out), "not believable", 700},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, _, err := ReadFrames(strings.NewReader(tt.in), tt.limit, "")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if f == nil || f.Status == nil {
				t.Error("no facts at all")
			}
		})
	}
}

func TestBombIsNotUnpacked(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := newFrameWriter(&out, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.frame(recordingName, stateOK, make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFrames(&out, 1<<20, ""); err == nil || !strings.Contains(err.Error(), "more than the limit") {
		t.Errorf("got error %v", err)
	}
}

func FuzzReadFrames(f *testing.F) {
	out, _ := stream(f, open(f, kernels(f)[0]), false)
	f.Add(out)
	f.Add([]byte(magic + "\nframe a ok 3 00\nabc\nend 1 00\n"))
	f.Add([]byte("junk"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if facts, _, _ := ReadFrames(bytes.NewReader(data), 1<<20, ""); facts == nil {
			t.Error("no facts")
		}
	})
}
