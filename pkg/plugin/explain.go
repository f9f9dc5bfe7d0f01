package plugin

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
)

// newExplain is the verb that prints a rule's document.
func newExplain(v verb) *cobra.Command {
	var color string
	cmd := &cobra.Command{
		Use: "explain CAUSE|SYMPTOM", Short: "Say what a cause means, how it is proved and what to do",
		Example: `  kubectl mountdoctor explain multipath-claims-device

  # which causes a symptom can have
  kubectl mountdoctor explain mount-failed`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s needs one cause; kubectl mountdoctor causes lists them", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return append(causeNames(), symptomNames()...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			rule := causes.Catalog().Rule(args[0])
			switch {
			case rule == nil && slices.Contains(symptomNames(), args[0]):
				return render.Document(v.streams.Out, symptomDoc(args[0]), terminal(v.streams.Out, color))
			case rule == nil:
				return usagef("unknown cause or symptom %q%s", args[0], suggest(args[0], append(causeNames(), symptomNames()...)))
			}
			return render.Document(v.streams.Out, rule.Doc+ruleFacts(rule), terminal(v.streams.Out, color))
		},
	}
	cmd.Flags().StringVar(&color, "color", "auto", "Colour: auto, always or never. NO_COLOR is honoured.")
	return cmd
}

// ruleFacts is what the rule itself declares, in the form of its document.
func ruleFacts(r *diagnosis.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## In the catalog\n\n- layer: %s, severity: %s\n", r.Layer, r.Severity)
	for _, row := range []struct {
		name string
		list []string
	}{{"explains", r.Explains}, {"leads to", r.LeadsTo}, {"may advise", r.Offers}} {
		if len(row.list) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", row.name, strings.Join(row.list, ", "))
		}
	}
	return b.String()
}

func symptomNames() []string {
	var out []string
	for _, s := range causes.Catalog().Symptoms {
		out = append(out, s.Name)
	}
	sort.Strings(out)
	return out
}

// symptomDoc says which causes a symptom can have, the deepest last.
func symptomDoc(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nA symptom: something that is wrong and wants a cause. These causes explain it; a diagnosis looks for each of them.\n", name)
	layer := ""
	rules := slices.Clone(causes.Catalog().Rules)
	sort.SliceStable(rules, func(i, j int) bool {
		return diagnosis.Depth(rules[i].Layer) < diagnosis.Depth(rules[j].Layer) || rules[i].Layer == rules[j].Layer && rules[i].Name < rules[j].Name
	})
	for _, r := range rules {
		if !slices.Contains(r.Explains, name) {
			continue
		}
		if string(r.Layer) != layer {
			layer = string(r.Layer)
			fmt.Fprintf(&b, "\n## %s\n\n", layer)
		}
		fmt.Fprintf(&b, "- `%s`\n", r.Name)
	}
	b.WriteString("\n`kubectl mountdoctor explain CAUSE` says how each is proved.\n")
	return b.String()
}

func causeNames() []string {
	var out []string
	for _, r := range causes.Catalog().Rules {
		out = append(out, r.Name)
	}
	sort.Strings(out)
	return out
}

// suggest names what is spelled almost like a mistyped name, else those that share most
// words with it.
func suggest(asked string, names []string) string {
	if n := nearest(asked, names); n != "" {
		return "; did you mean " + n + "?"
	}
	best, most := []string{}, 0
	for _, n := range names {
		score := 0
		for _, w := range strings.Split(strings.ToLower(asked), "-") {
			if len(w) > 2 && strings.Contains(n, w) {
				score++
			}
		}
		switch {
		case score > most:
			best, most = []string{n}, score
		case score == most && score > 0:
			best = append(best, n)
		}
	}
	if len(best) == 0 || len(best) > 5 {
		return "; kubectl mountdoctor causes lists them"
	}
	return "; did you mean " + strings.Join(best, " or ") + "?"
}
