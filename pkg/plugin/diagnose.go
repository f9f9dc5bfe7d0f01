package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// diagnoseOptions are what all diagnosing verbs have in common.
type diagnoseOptions struct {
	verb
	question   diagnosis.Question
	namespaced bool

	from   string
	probe  probeFlags
	output string
	failOn string
	color  string

	page render.Options
}

// newDiagnose builds a diagnosing verb; kind is also its name.
func newDiagnose(v verb, kind, use, short, example string) *cobra.Command {
	o := &diagnoseOptions{verb: v, question: diagnosis.Question{Kind: kind}, namespaced: kind == "pvc" || kind == "pod"}
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: func(cmd *cobra.Command, args []string) error { return o.takeArgs(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
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
	f.StringVar(&o.from, "from", "", "Read this snapshot (a directory or .tar.gz) instead of a cluster.")
	o.probe.add(f, kind)
	f.StringVarP(&o.output, "output", "o", "text", "Output format: "+strings.Join(render.Formats, ", ")+".")
	f.StringVar(&o.failOn, "fail-on", "degraded", "Exit with 2 on a cause or unexplained symptom of at least this severity: "+strings.Join(failOn, ", ")+".")
	f.StringVar(&o.color, "color", "auto", "Colour: auto, always or never. NO_COLOR is honoured.")
	o.addCompletion(cmd)
	return cmd
}

// takeArgs accepts exactly a name, or none for the cluster; "pvc/NAME" is
// accepted, because kubectl prints it.
func (o *diagnoseOptions) takeArgs(cmd *cobra.Command, args []string) error {
	switch {
	case o.question.Kind == "cluster":
		return noArgs(cmd, args)
	case len(args) == 0:
		return usagef("%s needs a name", cmd.CommandPath())
	case len(args) > 1:
		return usagef("%s takes one name, got %d: %s", cmd.CommandPath(), len(args), strings.Join(args, " "))
	case args[0] == "":
		return usagef("%s needs a name, got an empty one", cmd.CommandPath())
	}
	return nil
}

// Complete fills what the flags leave open.
func (o *diagnoseOptions) Complete(args []string) error {
	if len(args) > 0 {
		o.question.Name = args[0]
	}
	if o.namespaced {
		namespace, err := o.namespace()
		if err != nil {
			return err
		}
		o.question.Namespace = namespace
	}
	o.page = terminal(o.streams.Out, o.color)
	return nil
}

// namespace is that of -n or of the kubeconfig; a snapshot needs no kubeconfig.
func (o *diagnoseOptions) namespace() (string, error) {
	if o.config.Namespace != nil && *o.config.Namespace != "" {
		return *o.config.Namespace, nil
	}
	namespace, _, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil && o.from == "" {
		return "", fmt.Errorf("read kubeconfig: %w", err)
	}
	if namespace == "" {
		namespace = "default"
	}
	return namespace, nil
}

// Validate refuses what cannot be done.
func (o *diagnoseOptions) Validate() error {
	if !slices.Contains(render.Formats, o.output) {
		return usagef("unknown output format %q, want one of %s", o.output, strings.Join(render.Formats, ", "))
	}
	if !slices.Contains(failOn, o.failOn) {
		return usagef("unknown --fail-on %q, want one of %s", o.failOn, strings.Join(failOn, ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return usagef("unknown --color %q, want auto, always or never", o.color)
	}
	return o.probe.validate()
}

// Run answers the question. In the formats for programs there is one document
// even when the run failed.
func (o *diagnoseOptions) Run(ctx context.Context) error {
	if o.probe.show {
		return o.printPods(ctx)
	}
	r, err := o.diagnose(ctx)
	if err != nil {
		r = failed(o.question, err)
	}
	*o.code = exitCode(r, o.failOn)
	markOld(r)
	if r.Error != "" && slices.Contains([]string{"text", "wide"}, o.output) {
		return fmt.Errorf("%s", printable(r.Error))
	}
	if err := render.Write(o.streams.Out, r, o.output, o.page); err != nil {
		return err
	}
	if r.Error != "" {
		return fmt.Errorf("%s", printable(r.Error))
	}
	return nil
}

func (o *diagnoseOptions) printPods(ctx context.Context) error {
	source, err := o.source()
	if err != nil {
		return err
	}
	s, err := source.Snapshot(ctx, o.question)
	if err != nil {
		return err
	}
	return o.probe.printPods(o.streams.Out, o.streams.ErrOut, s, o.question)
}

func (o *diagnoseOptions) diagnose(ctx context.Context) (*report.Report, error) {
	source, err := o.source()
	if err != nil {
		return nil, err
	}
	s, err := source.Snapshot(ctx, o.question)
	if err != nil {
		return nil, err
	}
	if o.probe.off {
		withoutNodes(s)
	}
	return causes.Catalog().Evaluate(snapshot.NewIndex(s), o.question), nil
}

// Clock is the time at which a report is written. A test sets another one.
var Clock = time.Now

// markOld notes in a report that it is read long after its evidence was taken.
func markOld(r *report.Report) {
	const fresh = 15 * time.Minute
	taken, err := time.Parse(time.RFC3339, r.TakenAt)
	if now := Clock(); err == nil && now.Sub(taken) > fresh {
		r.ReadAt = now.UTC().Format(time.RFC3339)
	}
}

// failed is the document of a run that could not be done.
func failed(q diagnosis.Question, err error) *report.Report {
	return &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind, Verdict: report.UnknownState, Error: err.Error(),
		Subject:    report.Subject{Kind: subjectKind[q.Kind], Namespace: q.Namespace, Name: q.Name},
		Summary:    "The question could not be answered.",
		RootCauses: []report.Cause{}, Findings: []report.Cause{}, Symptoms: []report.Symptom{}, Unexplained: []report.Unexplained{},
		Noise: []report.Noise{}, Chain: []report.Link{}, Timeline: []report.Moment{}, NotChecked: []report.NotChecked{},
	}
}

var subjectKind = map[string]string{
	"pvc": "PersistentVolumeClaim", "pod": "Pod", "volume": "PersistentVolume", "node": "Node", "cluster": "Cluster",
}

// printable makes one line of an error in which others had a say.
func printable(s string) string {
	return report.Line(strings.ReplaceAll(strings.TrimSpace(s), "\n", "; "))
}
