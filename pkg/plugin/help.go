package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verbGroups are the commands as the help of the root lists them.
var verbGroups = []*cobra.Group{
	{ID: "ask", Title: "Questions:"},
	{ID: "nodes", Title: "Before and after:"},
	{ID: "know", Title: "What can be recognised:"},
}

// grouped puts the commands of the root into their groups.
func grouped(cmd *cobra.Command) {
	cmd.AddGroup(verbGroups...)
	of := map[string]string{
		"pvc": "ask", "pod": "ask", "volume": "ask", "node": "ask", "cluster": "ask", "capture": "ask",
		"preflight": "nodes", "rbac": "nodes", "cleanup": "nodes", "causes": "know", "explain": "know",
	}
	for _, c := range cmd.Commands() {
		c.GroupID = of[c.Name()]
	}
}

// help prints text, examples, flags and usage in kubectl's order; the flags that every
// command has stand under "options" alone, as kubectl's do.
func help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	width := terminal(cmd.OutOrStdout(), "never").Width
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(strings.TrimSpace(text) + "\n")
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + strings.TrimRight(cmd.Example, "\n") + "\n")
	}
	b.WriteString(usage(cmd, width))
	fmt.Fprint(cmd.OutOrStdout(), b.String())
}

// usage is what follows the text: names, commands, flags, and how it is called.
func usage(cmd *cobra.Command, width int) string {
	var b strings.Builder
	if len(cmd.Aliases) > 0 {
		b.WriteString("\nAliases:\n  " + cmd.NameAndAliases() + "\n")
	}
	for _, g := range append(slices.Clone(cmd.Groups()), &cobra.Group{Title: "Other commands:"}) {
		var rows [][2]string
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && c.IsAvailableCommand() {
				rows = append(rows, [2]string{c.Name(), c.Short})
			}
		}
		if g.ID == "" && len(cmd.Groups()) == 0 {
			g = &cobra.Group{Title: "Commands:"}
		}
		if len(rows) > 0 {
			b.WriteString("\n" + g.Title + "\n" + columnsOf(rows, width))
		}
	}
	if cmd.HasAvailableLocalFlags() {
		if own := flagsOf(ownFlags(cmd), width); own != "" {
			b.WriteString("\nOptions:\n" + own)
		}
	}
	b.WriteString("\nUsage:\n")
	if cmd.Runnable() {
		b.WriteString("  " + cmd.UseLine() + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("  " + cmd.CommandPath() + " COMMAND [flags]\n\nUse \"" + cmd.CommandPath() + " COMMAND --help\" for more about a command.\n")
	} else {
		b.WriteString("\n")
	}
	b.WriteString("Use \"" + cmd.Root().CommandPath() + " options\" for the options that every command has (namespace, kubeconfig, context …).\n")
	return b.String()
}

// ownFlags are those of a command that not every command has.
func ownFlags(cmd *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	common := cmd.Root().PersistentFlags()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if common.Lookup(f.Name) == nil && f.Name != "help" {
			own.AddFlag(f)
		}
	})
	return own
}

// flagsOf lists flags as kubectl does: name and default on one line, words below.
func flagsOf(set *pflag.FlagSet, width int) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		value := f.DefValue
		switch f.Value.Type() {
		case "string":
			value = "'" + value + "'"
		case "stringSlice", "stringArray":
			value = "[]"
		}
		fmt.Fprintf(&b, "    %s=%s:\n", name, value)
		for _, l := range wrapped(f.Usage, width-8) {
			b.WriteString("\t" + l + "\n")
		}
		b.WriteString("\n")
	})
	return b.String()
}

func columnsOf(rows [][2]string, width int) string {
	longest := 0
	for _, r := range rows {
		longest = max(longest, len(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		for i, l := range wrapped(r[1], width-longest-5) {
			name := ""
			if i == 0 {
				name = r[0]
			}
			b.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s   %s", longest, name, l), " ") + "\n")
		}
	}
	return b.String()
}

// wrapped breaks a text at blanks; a longer word stands alone.
func wrapped(s string, width int) []string {
	var out []string
	line := ""
	for _, w := range strings.Fields(s) {
		switch {
		case line == "":
			line = w
		case len(line)+1+len(w) <= width:
			line += " " + w
		default:
			out, line = append(out, line), w
		}
	}
	return append(out, line)
}

// newOptions is the command under which kubectl lists the options that all others have.
func newOptions() *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "List the options that every command has", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			width := terminal(cmd.OutOrStdout(), "never").Width
			_, err := fmt.Fprint(cmd.OutOrStdout(), "The following options can be passed to any command:\n\n"+flagsOf(cmd.Root().PersistentFlags(), width))
			return err
		},
	}
}
