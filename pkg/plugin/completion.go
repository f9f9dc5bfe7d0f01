package plugin

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
)

// completionTimeout is how long a user waits for a key press to be answered.
const completionTimeout = 2 * time.Second

// addCompletion completes the name that a verb takes, and the values of its flags.
func (o *diagnoseOptions) addCompletion(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		kind, begin, name := o.question.Kind, "", prefix
		if word, rest, slashed := strings.Cut(prefix, "/"); slashed {
			kind, begin, name = kindOf(word), word+"/", rest
		}
		switch kind {
		case "cluster":
			return nil, cobra.ShellCompDirectiveNoFileComp
		case "":
			var out []string
			for _, k := range kinds() {
				if strings.HasPrefix(k, prefix) {
					out = append(out, k+"/")
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		var out []string
		for _, n := range o.names(cmd.Context(), kind) {
			if strings.HasPrefix(n, name) && !slices.Contains(args, begin+n) {
				out = append(out, begin+n)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	values := map[string][]string{"fail-on": failOn, "color": {"auto", "always", "never"}}
	if cmd.Flags().Lookup("fail-on") != nil { // a report, not a capture
		values["output"] = formats
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
func (o *diagnoseOptions) names(ctx context.Context, kind string) []string {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	namespace := ""
	if kind == "pvc" || kind == "pod" {
		var err error
		if namespace, err = o.namespace(); err != nil {
			return nil
		}
	}
	if o.from != "" {
		return o.savedNames(kind, namespace)
	}
	config, err := o.config.ToRESTConfig()
	if err != nil {
		return nil
	}
	names, err := collect.Names(ctx, config, kind, namespace)
	if err != nil {
		return nil
	}
	return names
}

// savedNames are those of a snapshot.
func (o *diagnoseOptions) savedNames(kind, namespace string) []string {
	s, err := o.saved()
	if err != nil {
		return nil
	}
	var out []string
	switch kind {
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
