// Package agent runs every probe over one machine and frames the answers. The
// same code runs on a live node and over a recording.
package agent

import (
	"context"
	"errors"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
)

// Probe fills its part of the facts. It may read what earlier probes filled.
type Probe struct {
	Name     string
	Deadline time.Duration
	Run      func(context.Context, host.Host, *probes.Facts) error
}

// The states of a probe (probes.ProbeState).
const (
	stateOK       = "ok"
	statePartial  = "partial"
	stateTimeout  = "timeout"
	stateError    = "error"
	stateNotAsked = "not-asked" // a recording without the answer
)

// Gather runs all probes in order and returns what they found. It never fails: how
// each probe ended is in Facts.Status.
func Gather(ctx context.Context, h host.Host) *probes.Facts {
	h = kept.Door(h)
	f := &probes.Facts{Status: map[string]probes.ProbeState{}}
	for _, p := range Probes {
		Step(ctx, h, p, f)
	}
	return f
}

// Step runs one probe under its deadline and merges what it found. The probe works
// on a copy of its own, so that one that hangs or panics cannot spoil the others:
// its copy is abandoned with it. A recording cannot hang and needs no deadline.
func Step(ctx context.Context, h host.Host, p Probe, f *probes.Facts) {
	private := detach(f)
	if h.Recorded() {
		merge(f, private, p, recall(h, p, private, run(ctx, h, p, private)))
		return
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.Deadline)
	defer cancel()
	done := make(chan probes.ProbeState, 1)
	go func() { done <- run(ctx, h, p, private) }()
	var state probes.ProbeState
	select {
	case state = <-done:
	case <-ctx.Done():
		state = linger(done)
	}
	state.Elapsed = time.Since(start)
	if state.State == stateTimeout {
		state.Detail = "no result within " + p.Deadline.String()
		f.Status[p.Name] = state
		return
	}
	merge(f, private, p, state)
}

// grace is how long a probe whose time is over may take to hand in what it has.
const grace = 2 * time.Second

// linger waits for a probe that honours its context; one that hangs in the
// kernel is left behind.
func linger(done <-chan probes.ProbeState) probes.ProbeState {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case s := <-done:
		return s
	case <-timer.C:
		return probes.ProbeState{State: stateTimeout}
	}
}

// run calls the probe and turns a panic into a state: hostile bytes must not take
// the other probes down.
func run(ctx context.Context, h host.Host, p Probe, f *probes.Facts) probes.ProbeState {
	w := host.Watch(h)
	var err error
	if failed := fault.Of(func() { err = p.Run(ctx, w, f) }); failed != nil {
		return probes.ProbeState{State: stateError, Detail: failed.Error()}
	}
	f.Problems = append(f.Problems, gaps(p.Name, w)...)
	switch {
	case err == nil:
		return probes.ProbeState{State: stateOK}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, host.ErrHang):
		return probes.ProbeState{State: statePartial, Detail: err.Error()}
	}
	if errors.Is(err, host.ErrNotAsked) {
		return probes.ProbeState{State: stateNotAsked, Detail: err.Error()}
	}
	return probes.ProbeState{State: stateError, Detail: err.Error()}
}

// merge takes the probe's copy as the new facts.
func merge(f, private *probes.Facts, p Probe, s probes.ProbeState) {
	status, problems := f.Status, append(f.Problems, private.Problems...)
	*f = *private
	f.Status, f.Problems = status, problems
	f.Status[p.Name] = s
}
