package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

var (
	errInterrupted = errors.New("the run was interrupted")
	errNobodyReads = errors.New("nobody reads the output any more")
)

// untilInterrupted is a context that ends with the first signal, or when the
// reader of the output goes away: nodes are left, pods are deleted, and what was
// read is reported. The next signal ends the process at once, as if none had been
// caught. A SIGHUP that nohup(1) has turned off stays so.
func untilInterrupted(streams genericiooptions.IOStreams) (context.Context, func()) {
	caught := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, caught...)
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := make(chan struct{})
	go watchReader(ctx, streams.Out, gone)
	go func() {
		select {
		case <-signals:
			signal.Reset(caught...)
			say(streams.ErrOut, "interrupted: what was read is reported, and probe pods are deleted; interrupt again to end at once")
			cancel(errInterrupted)
		case <-gone:
			cancel(errNobodyReads)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(context.Canceled)
	}
}

// say begins a line of its own: progress may stand on the current one.
func say(out io.Writer, text string) {
	if file, ok := out.(*os.File); ok && newProgress(file).out != nil {
		fmt.Fprint(out, clearLine)
	}
	fmt.Fprintln(out, text)
}
