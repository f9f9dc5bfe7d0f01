package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/preflight"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// preflightOptions ask nodes for what storage needs of them.
type preflightOptions struct {
	diagnoseOptions
	names   []string
	storage []string
}

// newPreflight is the verb for whoever is about to install storage, or to add a node.
func newPreflight(v verb) *cobra.Command {
	o := &preflightOptions{diagnoseOptions: diagnoseOptions{verb: v, question: diagnosis.Question{Kind: "preflight"}}}
	cmd := &cobra.Command{
		Use: "preflight [NODE…]", Short: "Say what nodes lack for storage, before anything breaks",
		Long: `Look at nodes, or at all of them, and say what they lack for the storage that is
or shall be installed: programs, daemons, kernel modules, huge pages, mount
propagation, names that collide, what multipathd may take; each with the remedy for
the system of the node. It covers what longhornctl check preflight looks at.

Without --for the cluster says which storage there is; where it does not, Longhorn's
is meant. What could not be read was not checked: it has not passed.

Exit codes: 0 all nodes are ready; 2 something is missing, at or above --fail-on;
3 nothing is missing as far as was looked, but something was not checked; 1 the tool
could not do its work.`,
		Example: `  # all nodes, for the storage that the cluster has
  kubectl mountdoctor preflight

  # a new node, before Longhorn is installed with its v2 data engine
  kubectl mountdoctor preflight worker-9 --for longhorn-v1,longhorn-v2,longhorn-rwx

  # for a pipeline
  kubectl mountdoctor preflight -o junit > preflight.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.defaults(cmd); err != nil {
				return err
			}
			if err := o.complete(args); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.bindPreflight(cmd)
	return cmd
}

// bindPreflight gives the command its flags and their completion.
func (o *preflightOptions) bindPreflight(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", fromHelp)
	f.StringSliceVar(&o.storage, "for", nil, "Storage that shall work: "+strings.Join(preflight.Kinds, ", ")+". Default: what the cluster has.")
	o.probe.add(f, "preflight")
	f.StringVarP(&o.output, "output", "o", "text", "Output format: "+strings.Join(render.PreflightFormats, ", ")+".")
	f.StringVar(&o.failOn, "fail-on", "degraded", "Exit with 2 when something of at least this severity is missing: "+strings.Join(failOn, ", ")+".")
	f.StringVar(&o.color, "color", "auto", "Colour: auto, always or never. NO_COLOR is honoured.")
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var out []string
		for _, n := range o.diagnoseOptions.names(cmd.Context(), "node") {
			if strings.HasPrefix(n, prefix) && !slices.Contains(args, n) {
				out = append(out, n)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	for flag, list := range map[string][]string{"for": preflight.Kinds, "fail-on": failOn, "color": {"auto", "always", "never"}, "output": render.PreflightFormats} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)))
	}
	must(cmd.MarkFlagFilename("from"))
}

// complete reads node names as kubectl writes them: NAME or node/NAME.
func (o *preflightOptions) complete(args []string) error {
	list, err := targets("node", args)
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.kind != "node" {
			return usagef("%s is no node", t)
		}
		if !slices.Contains(o.names, t.name) {
			o.names = append(o.names, t.name)
		}
	}
	o.page = terminal(o.streams.Out, o.color)
	return nil
}

func (o *preflightOptions) validate() error {
	for _, s := range o.storage {
		if err := preflight.Known(s); err != nil {
			return usageError{err}
		}
	}
	switch {
	case !slices.Contains(render.PreflightFormats, o.output):
		return usagef("unknown output format %q, want one of %s", o.output, strings.Join(render.PreflightFormats, ", "))
	case !slices.Contains(failOn, o.failOn):
		return usagef("unknown --fail-on %q, want one of %s", o.failOn, strings.Join(failOn, ", "))
	case !slices.Contains([]string{"auto", "always", "never"}, o.color):
		return usagef("unknown --color %q, want auto, always or never", o.color)
	}
	return o.probe.validate()
}

func (o *preflightOptions) run(ctx context.Context) error {
	o.only = o.names
	if o.probe.show {
		return o.printPods(ctx, []diagnosis.Question{o.question})
	}
	answer, err := o.look(ctx)
	if err != nil {
		answer = &report.Preflight{APIVersion: report.APIVersion, Kind: report.KindPreflight, Verdict: report.UnknownState,
			Storage: []report.Storage{}, Nodes: []report.PreflightNode{}, NotChecked: []report.NotChecked{}, Error: err.Error()}
	}
	*o.code = o.exit(answer)
	if err == nil || !slices.Contains([]string{"text", "wide"}, o.output) {
		if err := render.Preflight(o.streams.Out, answer, o.output, o.page); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("%s", printable(err.Error()))
	}
	return nil
}

// look takes the evidence and makes the checks.
func (o *preflightOptions) look(ctx context.Context) (*report.Preflight, error) {
	source, err := o.source(false)
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
	x := snapshot.NewIndex(s)
	nodes := o.names
	for _, n := range nodes {
		if x.Node(n) == nil && x.View(n) == nil {
			return nil, fmt.Errorf("there is no node %s%s", n, printable(gapOf(x)))
		}
	}
	if len(nodes) == 0 {
		nodes = machine.All(x)
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("no node was found%s", printable(gapOf(x)))
	}
	out := preflight.Run(x, nodes, preflight.Wanted(x, o.storage))
	if taken := s.TakenAt; o.from != "" && Clock().Sub(taken) > 15*time.Minute {
		out.ReadAt = Clock().UTC().Format(time.RFC3339)
	}
	return out, nil
}

// gapOf is why nodes could not be read, as a sentence ends.
func gapOf(x *snapshot.Index) string {
	if g, missing := x.GapFor("/nodes"); missing {
		return ": the nodes could not be read (" + strings.TrimSpace(g.Reason+" "+g.Detail) + ")"
	}
	return ""
}

// exit judges the answer; it knows nothing of the output format.
func (o *preflightOptions) exit(p *report.Preflight) int {
	if p.Error != "" {
		return ExitFailed
	}
	limit, unread := report.Severity(o.failOn).Rank(), len(p.NotChecked)
	for _, n := range p.Nodes {
		unread += n.Count(report.NotLookedAt)
		for i := range n.Checks {
			c := &n.Checks[i]
			if lacks := c.Outcome == report.LacksIt || c.Outcome == report.AtRisk; lacks && limit > 0 && c.Severity.Rank() >= limit {
				return ExitFound
			}
		}
	}
	if unread > 0 {
		return ExitNotChecked
	}
	return ExitOK
}
