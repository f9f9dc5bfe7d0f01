package plugin

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"sort"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot/bundle"
)

// Source is where the evidence comes from: a saved snapshot or a live cluster.
type Source interface {
	Snapshot(ctx context.Context, q diagnosis.Question) (*snapshot.Snapshot, error)
}

// savedSource is a snapshot that was kept, or a bundle of another tool.
type savedSource struct {
	load func() (*snapshot.Snapshot, error)
}

func (s savedSource) Snapshot(ctx context.Context, _ diagnosis.Question) (*snapshot.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.load()
}

// room is by how many bytes the heap may grow over a large snapshot between two collections.
const room = 64 << 20

// saved reads the snapshot of --from, once.
func (o *diagnoseOptions) saved() (*snapshot.Snapshot, error) {
	if o.snapshot == nil {
		s, err := bundle.Load(o.from, o.streams.In)
		if err != nil {
			return nil, err // it names the path
		}
		o.snapshot = s
		// What was read stays to the end, and rules ask it for gigabytes of answers that do not:
		// a few dozen megabytes are room enough for those.
		if os.Getenv("GOGC") == "" {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			debug.SetGCPercent(int(max(28, min(100, room*100/m.HeapAlloc))))
		}
	}
	return o.snapshot, nil
}

// source is where the evidence of a question comes from; apiOnly leaves the nodes alone.
func (o *diagnoseOptions) source(apiOnly bool) (Source, error) {
	if o.from != "" {
		return savedSource{o.saved}, nil
	}
	var p prober
	if !apiOnly {
		p = o.probe.prober(o.streams.ErrOut, o.only)
	}
	return newLive(o.config, p, o.probe.appLogs, o.only, o.streams.ErrOut)
}

// withoutNodes removes what the probes of a snapshot found, so that the answer
// is that of the API alone; rules that need a node become "not checked".
func withoutNodes(s *snapshot.Snapshot) {
	for name := range s.Nodes {
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: "node/" + name, Reason: snapshot.NotRequested, Detail: "--no-probe"})
	}
	s.Nodes = nil
	sort.SliceStable(s.Gaps, func(i, j int) bool { return s.Gaps[i].Need < s.Gaps[j].Need })
}
