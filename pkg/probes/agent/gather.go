// Package agent runs every probe over one machine and frames the answers. The
// same code runs on a live node and over a recording.
package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Probe fills its part of the facts. It may read what earlier probes filled.
type Probe struct {
	Name     string
	Deadline time.Duration
	Run      func(context.Context, host.Host, *probes.Facts) error
}

// Gather runs all probes in order and returns what they found. It never fails: how
// each probe ended is in Facts.Status.
func Gather(ctx context.Context, h host.Host) *probes.Facts {
	f := &probes.Facts{Status: map[string]probes.ProbeState{}}
	for _, p := range Probes {
		Step(ctx, h, p, f)
	}
	return f
}

// Step runs one probe under its deadline and merges what it found. A probe works on
// a private copy, so that one that hangs or panics cannot spoil the others: its
// copy is abandoned.
func Step(ctx context.Context, h host.Host, p Probe, f *probes.Facts) {
	start := time.Now()
	private := *f
	private.Problems = nil
	private.Status = nil
	state := probes.ProbeState{State: "ok"}
	if h.Recorded() {
		run(ctx, h, p, &private, &state)
		merge(f, &private, p, state)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, p.Deadline)
	defer cancel()
	done := make(chan probes.ProbeState, 1)
	go func() {
		s := probes.ProbeState{State: "ok"}
		run(ctx, h, p, &private, &s)
		done <- s
	}()
	select {
	case state = <-done:
		state.Elapsed = time.Since(start)
		merge(f, &private, p, state)
	case <-ctx.Done():
		f.Status[p.Name] = probes.ProbeState{State: "timeout", Detail: "no result within " + p.Deadline.String(), Elapsed: time.Since(start)}
	}
}

// run calls the probe and turns a panic into a state: hostile bytes must not take
// the other probes down.
func run(ctx context.Context, h host.Host, p Probe, f *probes.Facts, s *probes.ProbeState) {
	defer func() {
		if r := recover(); r != nil {
			*s = probes.ProbeState{State: "error", Detail: fmt.Sprintf("panic: %v at %s", r, firstFrames(debug.Stack()))}
		}
	}()
	err := p.Run(ctx, h, f)
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, host.ErrHang):
		*s = probes.ProbeState{State: "partial", Detail: err.Error()}
	default:
		*s = probes.ProbeState{State: "error", Detail: err.Error()}
	}
}

func firstFrames(stack []byte) string {
	const enough = 600
	if len(stack) > enough {
		stack = stack[:enough]
	}
	return string(stack)
}

// merge takes the probe's copy as the new facts.
func merge(f, private *probes.Facts, p Probe, s probes.ProbeState) {
	status, problems := f.Status, append(f.Problems, private.Problems...)
	*f = *private
	f.Status, f.Problems = status, problems
	f.Status[p.Name] = s
}
