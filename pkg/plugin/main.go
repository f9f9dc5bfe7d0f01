// Package plugin is the command line: one file per verb, each with Options that
// are completed, validated and run as kubectl does it.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
)

// Main runs the command line and returns the exit code. Nothing below it ends
// the process, so that every defer runs, also on a signal. A closed pipe is no
// signal but an error of the write: once a program asks for SIGPIPE, it gets one
// for every socket that a peer closed early, an exec stream's too (os/signal).
func Main(args []string, streams genericiooptions.IOStreams) int {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := untilInterrupted(streams)
	defer stop()
	code := ExitOK
	cmd := NewCmd(streams, &code)
	cmd.SetArgs(args)
	ran, err := execute(ctx, cmd)
	if err == nil || errors.Is(err, syscall.EPIPE) { // who closed the pipe has read enough
		return code
	}
	fmt.Fprintf(streams.ErrOut, "error: %v\n", err)
	if usage := (usageError{}); errors.As(err, &usage) {
		fmt.Fprintf(streams.ErrOut, "See '%s --help' for usage.\n", ran.CommandPath())
	}
	return ExitFailed
}

// execute runs the command; a fault of this program ends it as an error does, with every
// probe pod deleted.
func execute(ctx context.Context, cmd *cobra.Command) (ran *cobra.Command, err error) {
	if failed := fault.Of(func() { ran, err = cmd.ExecuteContextC(ctx) }); failed != nil {
		return cmd, fmt.Errorf("%w\nPlease report it with the command line; SECURITY.md says how when it needs discretion", failed)
	}
	return ran, err
}

// NewCmd is the root command. The verbs leave the exit code of their answer in code.
func NewCmd(streams genericiooptions.IOStreams, code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubectl-mountdoctor TYPE/NAME",
		Short: "Say why a volume does not attach, mount or unmount",
		Long: `Walk the chain from a pod down to the block device and say which fact at the
lowest layer explains the symptoms above it, with the evidence and the least
invasive remedy.

Exit codes, the same for every output format:
  0  nothing found, and everything was checked
  1  the tool could not do its work
  2  a cause or an unexplained symptom at or above --fail-on
  3  nothing found, but something was not checked`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl mountdoctor"},
		SilenceUsage:  true,
		SilenceErrors: true,
		Example: `  # why do the pods of a Deployment not start
  kubectl mountdoctor deploy/db -n shop

  # one claim, one node, everything
  kubectl mountdoctor pvc data-db-0 -n shop
  kubectl mountdoctor node worker-1
  kubectl mountdoctor cluster -o brief`,
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	cmd.SetFlagErrorFunc(nearFlag)
	verbosity := 0
	cmd.PersistentFlags().IntVarP(&verbosity, "v", "v", 0, "Print what client-go logs up to this level; requests from 6 on.")
	cmd.PersistentPreRun = func(*cobra.Command, []string) { logAt(verbosity, streams.ErrOut) }
	flags := genericclioptions.NewConfigFlags(true)
	flags.AddFlags(cmd.PersistentFlags())
	shared := verb{streams: streams, config: flags, code: code}
	bindRoot(cmd, shared)
	cmd.AddCommand(newPVC(shared), newPod(shared), newVolume(shared), newNode(shared), newCluster(shared), newCapture(shared),
		newExplain(shared), newCauses(shared), newCleanup(shared), newRBAC(shared), newPreflight(shared), newVersion(shared), newOptions())
	addInstall(cmd, shared)
	grouped(cmd)
	cmd.SetHelpFunc(help)
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), usage(cmd, terminal(cmd.OutOrStderr(), "never").Width))
		return err
	})
	return cmd
}

// verb is what every command gets from the root.
type verb struct {
	streams genericiooptions.IOStreams
	config  *genericclioptions.ConfigFlags
	code    *int
}

// bindRoot lets the plugin be asked without a verb: TYPE/NAME; -l asks about pods, -A alone
// sweeps the cluster. Without anything it helps.
func bindRoot(cmd *cobra.Command, v verb) {
	o := &diagnoseOptions{verb: v}
	o.bind(cmd)
	take, run := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return take(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && o.selector != "":
			o.question.Kind, o.namespaced = "pod", true
		case len(args) == 0 && !o.all:
			return cmd.Help()
		case len(args) == 0:
			o.question.Kind, o.probe.asked = "cluster", true
		}
		return run(cmd, args)
	}
}
