package plugin

import (
	"context"
	"fmt"
	"sort"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Source is where the evidence comes from: a saved snapshot or a live cluster.
type Source interface {
	Snapshot(ctx context.Context, q diagnosis.Question) (*snapshot.Snapshot, error)
}

// saved is a snapshot on disk.
type saved struct{ path string }

func (s saved) Snapshot(ctx context.Context, _ diagnosis.Question) (*snapshot.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := snapshot.Load(s.path)
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", s.path, err)
	}
	return out, nil
}

func (o *diagnoseOptions) source() (Source, error) {
	if o.from != "" {
		return saved{o.from}, nil
	}
	return newLive(o.config, o.probe.prober(o.streams.ErrOut), o.probe.appLogs, o.streams.ErrOut)
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
