package plugin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// captureOptions are a question whose evidence is kept instead of judged.
type captureOptions struct {
	diagnoseOptions
	path   string
	redact bool
	list   bool
}

// newCapture is the verb that writes the evidence of a question to a file, for
// somebody else or for later.
func newCapture(v verb) *cobra.Command {
	cmd := &cobra.Command{
		Use: "capture", Short: "Write the snapshot of a question to a directory or .tar.gz",
		Long: `Write everything that a question reads, of the cluster and of its nodes, to a
directory or a .tar.gz. With --from PATH every verb reads it again, without a
cluster.

It holds what some rule reads and nothing else: fields of objects, lines of files
and logs. Secrets, environment variables and the logs of your own containers are
not read; values behind token, key, secret, password and the like are hidden. With
--redact names and addresses are replaced, too, and the causes stay the same.
--list shows every file of it and why it is there, and writes nothing.`,
		Example: `  # everything about one claim
  kubectl mountdoctor capture pvc data-db-0 -n shop --to incident.tar.gz

  # the same for strangers
  kubectl mountdoctor capture pvc data-db-0 -n shop --to incident.tar.gz --redact`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, k := range []struct{ kind, use, short string }{
		{"pvc", "pvc NAME", "Capture what concerns a claim"},
		{"pod", "pod NAME", "Capture what concerns the volumes of a pod"},
		{"volume", "volume NAME", "Capture what concerns a PersistentVolume or a Longhorn volume"},
		{"node", "node NAME", "Capture what concerns a node and its volumes"},
		{"cluster", "cluster", "Capture the whole cluster"},
	} {
		cmd.AddCommand(newCaptureOf(v, k.kind, k.use, k.short))
	}
	return cmd
}

func newCaptureOf(v verb, kind, use, short string) *cobra.Command {
	o := &captureOptions{diagnoseOptions: diagnoseOptions{
		verb: v, question: diagnosis.Question{Kind: kind}, namespaced: kind == "pvc" || kind == "pod",
		output: "text", failOn: "none", color: "never",
	}}
	cmd := &cobra.Command{
		Use: use, Short: short, Aliases: aliases(kind),
		Args: func(cmd *cobra.Command, args []string) error { return o.takeArgs(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.defaults(cmd); err != nil {
				return err
			}
			if err := o.Complete(args); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.path, "to", "", "Where to write: a new directory, or a file that ends in .tar.gz. Required but for --list.")
	f.BoolVar(&o.list, "list", false, "Show every file that would be written and why, and write nothing.")
	f.BoolVar(&o.redact, "redact", false, "Replace names, addresses and other words that may be private; the causes stay the same.")
	f.StringVar(&o.from, "from", "", "Capture from this snapshot instead of a cluster, to redact it or to pack it.")
	o.probe.add(f, kind)
	o.addCompletion(cmd)
	return cmd
}

// Validate refuses what cannot be done, before the cluster is asked.
func (o *captureOptions) Validate() error {
	switch {
	case o.list:
		return o.diagnoseOptions.Validate()
	case o.path == "":
		return usagef("capture needs --to DIRECTORY or --to FILE.tar.gz")
	}
	if info, err := os.Stat(o.path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s exists already; a capture replaces nothing", o.path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at the target: %w", err)
	}
	return o.diagnoseOptions.Validate()
}

// Run takes the snapshot and writes it, whole or not at all.
func (o *captureOptions) Run(ctx context.Context) error {
	questions, err := o.questions(ctx)
	switch {
	case err != nil:
		return err
	case len(questions) != 1:
		return usagef("a capture holds one question, got %d", len(questions))
	}
	o.question = questions[0]
	if o.probe.show {
		return o.printPods(ctx, questions)
	}
	source, err := o.source(false)
	if err != nil {
		return err
	}
	s, err := source.Snapshot(ctx, o.question)
	if err != nil {
		return err
	}
	if o.probe.off {
		withoutNodes(s)
	}
	r := causes.Catalog().Evaluate(snapshot.NewIndex(s), o.question)
	if r.Error != "" {
		return fmt.Errorf("%s", printable(r.Error))
	}
	if o.redact {
		if s, err = o.redacted(s); err != nil {
			return err
		}
	}
	if o.list {
		return o.show(s)
	}
	if err := snapshot.Save(o.path, s); err != nil {
		return err
	}
	return o.report(s)
}

// redacted replaces private words, also those of the question. Its key is thrown
// away: nobody can try which name became which word.
func (o *captureOptions) redacted(s *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	r, err := snapshot.Redact(s, key)
	if err != nil {
		return nil, fmt.Errorf("redact the snapshot: %w", err)
	}
	o.question.Name, o.question.Namespace = r.Word(o.question.Name), r.Word(o.question.Namespace)
	return r.Snapshot, nil
}
