package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
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
	question   diagnosis.Question // Kind is that of the verb, empty for TYPE/NAME; Name stays empty until it is asked
	namespaced bool

	targets  []target
	selector string
	all      bool
	resolver resolver
	only     []string           // the nodes of a preflight; none: all
	snapshot *snapshot.Snapshot // of --from, once it was read

	from    string
	probe   probeFlags
	output  string
	failOn  string
	color   string
	metrics string
	docs    string // where the pages about causes are served
	wait    time.Duration
	watch   bool

	page render.Options
}

// fromHelp names what the importer reads (pkg/snapshot/bundle).
const fromHelp = "Ask this instead of a cluster: a capture, a Longhorn support bundle, a must-gather, a bundle of troubleshoot.sh, a dump of kubectl cluster-info, any YAML or JSON of kubectl get; as a directory, .zip, .tar.gz, file, or - for the standard input."

// newDiagnose builds a diagnosing verb; kind is also its name.
func newDiagnose(v verb, kind, use, short, example string) *cobra.Command {
	o := &diagnoseOptions{verb: v, question: diagnosis.Question{Kind: kind}, namespaced: kind == "pvc" || kind == "pod"}
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Aliases: aliases(kind)}
	o.bind(cmd)
	return cmd
}

// bind gives a command the flags and the run of a diagnosis.
func (o *diagnoseOptions) bind(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error { return o.takeArgs(cmd, args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
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
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", fromHelp)
	o.probe.add(f, o.question.Kind)
	f.StringVarP(&o.output, "output", "o", "text", "Output format: "+strings.Join(formats, ", ")+".")
	f.StringVar(&o.failOn, "fail-on", "degraded", "Exit with 2 on a cause or unexplained symptom of at least this severity: "+strings.Join(failOn, ", ")+".")
	f.StringVar(&o.color, "color", "auto", "Colour: auto, always or never. NO_COLOR is honoured.")
	f.StringVar(&o.docs, "docs-url", "", "Where the pages about causes are served; answers then link to them.")
	f.StringVar(&o.metrics, "metrics-file", "", "Also write the answer to this file in Prometheus' text format.")
	f.DurationVar(&o.wait, "wait", 0, "Ask again until nothing is wrong any more, at most this long: --wait for five minutes, or --wait=DURATION.")
	f.Lookup("wait").NoOptDefVal = "5m"
	f.BoolVarP(&o.watch, "watch", "w", false, "Ask again and again, and print every answer that differs from the one before.")
	if o.question.Kind != "cluster" {
		f.StringVarP(&o.selector, "selector", "l", "", "Ask about the "+map[bool]string{true: "pods", false: "objects"}[o.question.Kind == ""]+" with these labels instead of naming them.")
	}
	if o.namespaced || o.question.Kind == "cluster" || o.question.Kind == "" {
		f.BoolVarP(&o.all, "all-namespaces", "A", false, "Ask about the objects of all namespaces.")
	}
	o.addCompletion(cmd)
}

// takeArgs reads the names; the cluster has none.
func (o *diagnoseOptions) takeArgs(cmd *cobra.Command, args []string) error {
	if o.question.Kind == "cluster" {
		return noArgs(cmd, args)
	}
	if len(args) == 1 && o.question.Kind == "" && o.selector != "" && kindOf(args[0]) != "" {
		return usagef("a %s is asked about by its name; its pods by their labels: kubectl mountdoctor pod -l %s", kindOf(args[0]), o.selector)
	}
	var err error
	if o.targets, err = targets(o.question.Kind, args); err != nil {
		return err
	}
	chosen := o.selector != "" || o.all
	switch {
	case len(args) == 0 && !chosen:
		return usagef("%s needs a name", cmd.CommandPath())
	case len(args) > 0 && chosen:
		return usagef("%s takes names, or --selector and --all-namespaces, not both", cmd.CommandPath())
	}
	return nil
}

// Complete fills what the flags leave open.
func (o *diagnoseOptions) Complete([]string) error {
	if o.namespaced || o.inNamespace() {
		namespace, err := o.namespace()
		if err != nil {
			return err
		}
		o.question.Namespace = namespace
	}
	if n := o.config.Namespace; o.question.Kind == "cluster" && n != nil && !o.all {
		o.question.Namespace = *n // only when it is asked for: the kubeconfig's is for single objects
	}
	o.page = terminal(o.streams.Out, o.color)
	o.page.Docs = o.docs
	if o.resolver == nil {
		o.resolver = liveObjects{o.config}
		if o.from != "" {
			o.resolver = savedObjects{o.saved}
		}
	}
	return nil
}

// inNamespace tells whether something was named that lives in a namespace.
func (o *diagnoseOptions) inNamespace() bool {
	for _, t := range o.targets {
		if t.kind != "volume" && t.kind != "node" && t.kind != attachment {
			return true
		}
	}
	return false
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
	if err := o.validateOutput(); err != nil {
		return err
	}
	if !slices.Contains(failOn, o.failOn) {
		return usagef("unknown --fail-on %q, want one of %s", o.failOn, strings.Join(failOn, ", "))
	}
	if !slices.Contains([]string{"auto", "always", "never"}, o.color) {
		return usagef("unknown --color %q, want auto, always or never", o.color)
	}
	if u, err := url.Parse(o.docs); o.docs != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "") {
		return usagef("--docs-url %q is no address of a site: want https://HOST/PATH", o.docs)
	}
	switch {
	case o.wait < 0:
		return usagef("--wait %s is no time to wait", o.wait)
	case o.watch && o.wait > 0:
		return usagef("--wait and --watch exclude each other")
	case (o.watch || o.wait > 0) && o.from != "":
		return usagef("a snapshot does not change: --wait and --watch need a cluster")
	}
	return o.probe.validate()
}

// Run answers the questions. In the formats for programs there is one document even
// when the run failed.
func (o *diagnoseOptions) Run(ctx context.Context) error {
	questions, err := o.questions(ctx)
	switch usage := (usageError{}); {
	case errors.As(err, &usage):
		return err
	case err != nil:
		q := o.question
		if len(o.targets) > 0 {
			q.Kind, q.Name = o.targets[0].kind, o.targets[0].name
		}
		return o.print([]*report.Report{failed(q, err)})
	case len(questions) > 1 && o.output == "html":
		return usagef("a page shows one answer, and this asks %d questions: ask for them one by one, or with -o markdown", len(questions))
	}
	switch {
	case o.probe.show:
		return o.printPods(ctx, questions)
	case o.watch:
		return o.keepWatching(ctx, questions)
	case o.wait > 0:
		return o.waitUntilWell(ctx, questions)
	}
	return o.print(o.answers(ctx, questions, false))
}

// answers asks every question; apiOnly leaves the nodes alone.
func (o *diagnoseOptions) answers(ctx context.Context, questions []diagnosis.Question, apiOnly bool) []*report.Report {
	var out []*report.Report
	for _, q := range questions {
		r, err := o.diagnose(ctx, q, apiOnly)
		if err != nil {
			r = failed(q, err)
		}
		if o.from != "" { // what was read now is of now, whatever this machine's clock says
			markOld(r)
		}
		r.Tool = version()
		out = append(out, r)
	}
	return out
}

func (o *diagnoseOptions) printPods(ctx context.Context, questions []diagnosis.Question) error {
	source, err := o.source(false)
	if err != nil {
		return err
	}
	for _, q := range questions {
		s, err := source.Snapshot(ctx, q)
		if err != nil {
			return err
		}
		if err := o.probe.printPods(o.streams.Out, o.streams.ErrOut, s, q, o.only); err != nil {
			return err
		}
	}
	return nil
}

func (o *diagnoseOptions) diagnose(ctx context.Context, q diagnosis.Question, apiOnly bool) (*report.Report, error) {
	source, err := o.source(apiOnly)
	if err != nil {
		return nil, err
	}
	s, err := source.Snapshot(ctx, q)
	if err != nil {
		return nil, err
	}
	if o.probe.off {
		withoutNodes(s)
	}
	return causes.Catalog().Evaluate(snapshot.NewIndex(s), q), nil
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
		Subject:    report.Subject{Kind: cmp.Or(subjectKind[q.Kind], q.Kind), Namespace: q.Namespace, Name: q.Name},
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
