package plugin

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// completionTimeout is how long a user waits for a key press to be answered.
const completionTimeout = 2 * time.Second

// addCompletion completes the name that a verb takes, and the values of its flags.
func (o *diagnoseOptions) addCompletion(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || o.question.Kind == "cluster" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, name := range o.names(cmd.Context()) {
			if strings.HasPrefix(name, prefix) {
				out = append(out, name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	values := map[string][]string{"fail-on": failOn, "color": {"auto", "always", "never"}}
	if cmd.Flags().Lookup("fail-on") != nil { // a report, not a capture
		values["output"] = render.Formats
	}
	for flag, list := range values {
		if cmd.Flags().Lookup(flag) != nil {
			must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)))
		}
	}
	must(cmd.MarkFlagFilename("from", "tar.gz"))
}

// must is for errors that only a wrong program can make.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// names are those of the objects that the verb may be asked about; none when the
// cluster does not answer at once.
func (o *diagnoseOptions) names(ctx context.Context) []string {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	namespace := ""
	if o.namespaced {
		var err error
		if namespace, err = o.namespace(); err != nil {
			return nil
		}
	}
	if o.from != "" {
		return o.savedNames(namespace)
	}
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return nil
	}
	names, err := collect.Names(ctx, config, o.question.Kind, namespace)
	if err != nil {
		return nil
	}
	return names
}

// savedNames are those of a snapshot.
func (o *diagnoseOptions) savedNames(namespace string) []string {
	s, err := snapshot.Load(o.from)
	if err != nil {
		return nil
	}
	var out []string
	switch o.question.Kind {
	case "pvc":
		for _, c := range s.Cluster.Claims {
			if c.Namespace == namespace {
				out = append(out, c.Name)
			}
		}
	case "pod":
		for _, p := range s.Cluster.Pods {
			if p.Namespace == namespace {
				out = append(out, p.Name)
			}
		}
	case "volume":
		for _, pv := range s.Cluster.PVs {
			out = append(out, pv.Name)
		}
	case "node":
		for _, n := range s.Cluster.Nodes {
			out = append(out, n.Name)
		}
	}
	return out
}
