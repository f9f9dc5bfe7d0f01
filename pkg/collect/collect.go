package collect

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Question is what was asked: pvc, pod, volume, node or cluster; preflight is about
// the nodes of Names, or all.
type Question struct {
	Kind, Namespace, Name string
	Names                 []string
}

// Options are the limits of a collection. The zero value is good.
type Options struct {
	Parallel int       // requests at once
	LogLines int       // of each log's tail
	NoLogs   bool      // read no logs
	AppLogs  bool      // read the logs of the pods that use a volume, too: they are nobody's business but their owner's
	Now      time.Time // when the snapshot is taken; zero: now, by the server's clock
	// Nodes is called when the objects are read, and may add what the nodes themselves
	// say; then the objects that the nodes name are read, too. It is called a second time
	// when the volumes of the question moved on meanwhile.
	Nodes func(ctx context.Context, s *snapshot.Snapshot) error
	// Progress is told what is being read, from one goroutine.
	Progress func(text string)
}

// Stats is what a collection cost.
type Stats struct {
	Requests, Bytes atomic.Int64
}

func (s *Stats) add(bytes int) {
	s.Requests.Add(1)
	s.Bytes.Add(int64(bytes))
}

// Collect reads from a cluster what a question needs. What could not be read is
// a gap of the snapshot; an error means that the cluster could not be asked at all.
func Collect(ctx context.Context, config *rest.Config, q Question, o Options) (*snapshot.Snapshot, error) {
	s, _, err := Measure(ctx, config, q, o)
	return s, err
}

// Measure is Collect and tells what it cost.
func Measure(ctx context.Context, config *rest.Config, q Question, o Options) (*snapshot.Snapshot, *Stats, error) {
	if o.Parallel <= 0 {
		o.Parallel = 10
	}
	if o.LogLines <= 0 {
		o.LogLines = 400
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	client, err := newClient(config)
	if err != nil {
		return nil, nil, err
	}
	o.Progress("connecting to " + config.Host)
	if err := client.connect(ctx); err != nil {
		return nil, nil, unreachable(ctx, config.Host, err)
	}
	if o.Now.IsZero() {
		o.Now = client.clock.At(time.Now())
		if differ := client.clock.Says(); differ != "" {
			o.Progress(differ)
		}
	}
	c := newCollector(client, q, o)
	if err := c.run(ctx); err != nil {
		return nil, nil, unreachable(ctx, config.Host, err)
	}
	return c.finish(), &client.stats, nil
}

// unreachable is the one line for a cluster that cannot be asked.
func unreachable(ctx context.Context, host string, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case unauthorized(err):
		return fmt.Errorf("%w (%s)", ErrUnauthorized, words(err))
	}
	return fmt.Errorf("reach the API server %s: %s", host, words(err))
}
