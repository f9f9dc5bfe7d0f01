package agent

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
)

// livelike is a recording that probes take for a running machine.
type livelike struct{ host.Host }

func (livelike) Recorded() bool { return false }

func TestStepIsolatesProbes(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	list := []Probe{
		{"fine", time.Minute, func(_ context.Context, _ host.Host, f *probes.Facts) error {
			f.Processes = []probes.Process{{PID: 1}}
			f.Claims = map[probes.Dev]string{{Major: 8}: "free"}
			return nil
		}},
		{"panics", time.Minute, func(_ context.Context, _ host.Host, f *probes.Facts) error {
			f.Processes[0].Comm = "spoilt"
			panic("hostile bytes")
		}},
		{"hangs", time.Millisecond, func(_ context.Context, _ host.Host, f *probes.Facts) error {
			f.Processes[0].PID = 99
			f.Claims[probes.Dev{Major: 9}] = "EBUSY"
			<-release
			return nil
		}},
		{"late but obedient", time.Millisecond, func(ctx context.Context, _ host.Host, f *probes.Facts) error {
			f.Swaps = []probes.Swap{{Path: "/swapfile"}}
			<-ctx.Done()
			return ctx.Err()
		}},
	}
	f := &probes.Facts{Status: map[string]probes.ProbeState{}}
	for _, p := range list {
		Step(context.Background(), livelike{host.NewRecorded()}, p, f)
	}
	states := map[string]string{}
	for name, s := range f.Status {
		states[name] = s.State
	}
	want := map[string]string{"fine": "ok", "panics": "error", "hangs": "timeout", "late but obedient": "partial"}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states mismatch (-want +got):\n%s", diff)
	}
	if f.Processes[0].PID != 1 || len(f.Claims) != 1 || len(f.Swaps) != 1 {
		t.Errorf("a probe that hung changed the facts: %+v", f)
	}
}

func TestGatherIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, path := range kernels(t) {
		first, second := Gather(t.Context(), open(t, path)), Gather(t.Context(), open(t, path))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s: two runs differ:\n%s", path, diff)
		}
	}
}

// TestRecordedAgain records what the probes see of a recording: the second
// recording must bring the same facts as the first, but files that are not kept.
func TestRecordedAgain(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("../../../testdata/cases/*/nodes/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range append(kernels(t), cases...) {
		if strings.Contains(path, "cases") && i%3 > 0 && os.Getenv("ALL_LOSSES") == "" { // .ci/run takes all
			continue
		}
		recorder := NewRecorder(open(t, path))
		want := Gather(t.Context(), recorder)
		var text bytes.Buffer
		if err := WriteRecording(&text, recorder, want); err != nil {
			t.Fatal(err)
		}
		again, err := host.ParseRecording(text.Bytes())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		choice := kept.NewChoice(want)
		got := Gather(t.Context(), again)
		for _, f := range []*probes.Facts{want, got} {
			maps.DeleteFunc(f.Files, func(name string, _ probes.File) bool { return !choice.Keep(name) })
		}
		if diff := same(want, got); diff != "" {
			t.Errorf("%s: facts mismatch (-first +again):\n%s", path, diff)
		}
	}
}

func BenchmarkGather(b *testing.B) {
	r := open(b, kernels(b)[0])
	for b.Loop() {
		Gather(context.Background(), r)
	}
}
