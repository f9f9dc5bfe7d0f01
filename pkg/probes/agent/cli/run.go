//go:build linux

// Package cli is the command line of the agent.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host/live"
)

// Version is set by the linker.
var Version = "devel"

type options struct {
	record   string
	root     string
	deadline time.Duration
	call     time.Duration
	pretty   bool
	prove    bool
	resolve  []string
	dial     []string
}

// Run is the whole program; it returns the exit code: 0 the answer was written,
// 1 it was not, 2 the command line is wrong.
func Run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "version" {
		fmt.Fprintln(stdout, "mountdoctor-agent", Version)
		return 0
	}
	if len(args) == 1 && args[0] == "sha256" {
		return printOwnSum(stdout, stderr)
	}
	var o options
	flags := flag.NewFlagSet("mountdoctor-agent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.record, "record", "", "also write a recording of the machine to `FILE` (-: as the last frame)")
	flags.StringVar(&o.root, "root", "", "look at a recording instead of this machine")
	flags.DurationVar(&o.deadline, "deadline", time.Minute, "end after this time with what was found")
	flags.DurationVar(&o.call, "call-deadline", 0, "give up a single question after this time (default 3s)")
	flags.BoolVar(&o.pretty, "pretty", false, "print the facts as indented JSON instead of frames")
	flags.BoolVar(&o.prove, "prove", false, "read a nonce from standard input, and begin the answer with a proof keyed by it")
	flags.Func("resolve", "also ask the host's resolver for `NAME` (may be repeated)", func(name string) error {
		o.resolve = append(o.resolve, name)
		return nil
	})
	flags.Func("dial", "also connect to `HOST:PORT` (may be repeated)", func(at string) error {
		o.dial = append(o.dial, at)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "mountdoctor-agent: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	// A reader that went away is an error of the next write, not the end of the
	// process in the middle of a probe.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.deadline)
	defer cancel()
	if err := o.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, "mountdoctor-agent:", err)
		return 1
	}
	return 0
}

func (o options) run(ctx context.Context, stdout io.Writer) error {
	proof, err := o.proof()
	if err != nil {
		return err
	}
	h, err := o.host()
	if err != nil {
		return err
	}
	var recorder *host.Recorder
	if o.record != "" && (o.record != "-" || o.pretty) {
		recorder = agent.NewRecorder(h)
		h = recorder
	}
	var f *probes.Facts
	if o.pretty {
		f = agent.Gather(ctx, h)
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		err = out.Encode(f)
	} else {
		f, err = agent.Stream(ctx, h, stdout, o.record == "-", proof)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if recorder == nil || o.record == "-" {
		return nil
	}
	return writeRecording(o.record, recorder, f)
}

// host is this machine at the lowest priority, or a recording.
func (o options) host() (host.Host, error) {
	if o.root == "" {
		yield()
		h := live.New(o.call)
		for _, name := range o.resolve {
			h.Want("resolve", name)
		}
		for _, at := range o.dial {
			h.Want("dial", at)
		}
		return h, nil
	}
	data, err := os.ReadFile(o.root)
	if err != nil {
		return nil, err
	}
	r, err := host.ParseRecording(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.root, err)
	}
	return r, nil
}

func writeRecording(name string, r *host.Recorder, f *probes.Facts) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(agent.WriteRecording(file, r, f), file.Close())
}
