// Package reach asks whether the servers of a node's volumes answer, from the
// network namespace of the host and with the host's own resolver.
package reach

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	most    = 64 // questions of one kind per node
	workers = 16
)

// Run fills Facts.Dials and Facts.Resolves. On a machine the questions follow from what
// it shows of its servers, and from what the caller wants; a recording holds its own.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	dials, names := Questions(f)
	if h.Given() {
		dials, names = nil, nil
	}
	dials, names = with(h.Asked("dial"), dials), with(h.Asked("resolve"), names)
	if len(dials) > most || len(names) > most {
		f.Problems = append(f.Problems, probes.Problem{
			Probe: "reach", Path: "@dial", Text: fmt.Sprintf("of %d servers and %d names, %d each were asked", len(dials), len(names), most),
			Count: max(0, len(dials)-most) + max(0, len(names)-most),
		})
		dials, names = dials[:min(len(dials), most)], names[:min(len(names), most)]
	}
	f.Dials = answers(ctx, dials, h.Dial)
	f.Resolves = answers(ctx, names, h.Resolve)
	return ctx.Err()
}

// answers asks several at once: each question may take its whole deadline.
func answers(ctx context.Context, questions []string, ask func(string) (string, error)) map[string]string {
	out := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, q := range questions {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			a, err := ask(q)
			if errors.Is(err, host.ErrNotAsked) {
				return
			}
			if err != nil {
				a = attr.ErrName(err)
			}
			mu.Lock()
			defer mu.Unlock()
			out[q] = strings.TrimSpace(a)
		}()
	}
	wg.Wait()
	return out
}
