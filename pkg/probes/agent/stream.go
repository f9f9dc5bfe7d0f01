package agent

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
)

// Stream runs all probes and writes each part as soon as it is there. With
// record, the last frame is the recording of everything that was asked. A proof is the
// first frame; empty: none.
func Stream(ctx context.Context, h host.Host, out io.Writer, record bool, proof string) (*probes.Facts, error) {
	w, err := newFrameWriter(out, proof)
	if err != nil {
		return nil, err
	}
	var recorder *host.Recorder
	if record {
		recorder = NewRecorder(h)
		h = recorder
	} else {
		h = kept.Door(h)
	}
	f := &probes.Facts{Status: map[string]probes.ProbeState{}}
	for _, p := range Probes {
		before := *f
		Step(ctx, h, p, f)
		payload, err := part(&before, f, p)
		if err != nil {
			return f, err
		}
		if err := w.frame(p.Name, f.Status[p.Name].State, payload); err != nil {
			return f, err
		}
	}
	if recorder != nil {
		var b bytes.Buffer
		if err := WriteRecording(&b, recorder, f); err != nil {
			return f, err
		}
		if err := w.frame(recordingName, stateOK, b.Bytes()); err != nil {
			return f, err
		}
	}
	return f, w.end()
}

// NewRecorder records what may be known of a machine.
func NewRecorder(h host.Host) *host.Recorder {
	return host.NewRecorder(kept.Door(h))
}

// WriteRecording writes what a recorder saw of the processes in the facts and of
// those that could not be read: the agent's own are not among them. Of the device numbers behind links those are
// written that the facts hold; a process with its files elsewhere is no holder.
func WriteRecording(out io.Writer, r *host.Recorder, f *probes.Facts) error {
	known := map[string]bool{"1": true}
	for _, p := range f.Problems { // a process that was refused is in no list
		known[strconv.Itoa(p.PID)] = true
	}
	for name := range f.Status {
		if text := tell(f, name); text != "" {
			r.Tell(name, text)
		}
	}
	for i := range f.Processes {
		known[strconv.Itoa(f.Processes[i].PID)] = true
	}
	choice := kept.NewChoice(f)
	return r.Write(out, "", func(name string) bool {
		if !choice.Keep(name) {
			return false
		}
		rest, ok := strings.CutPrefix(name, "proc/")
		pid, _, _ := strings.Cut(rest, "/")
		_, err := strconv.Atoi(pid)
		return !ok || err != nil || known[pid]
	})
}
