package plugin

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/launch/agents"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Version is set by the linker in a release: -X …/pkg/plugin.Version=v1.2.3.
var Version = ""

// newVersion is the verb that says which build this is.
func newVersion(v verb) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version of this program, and the defaults in force", Args: noArgs,
		Long: `Print the version of this program. With -o json or yaml also for which nodes it
carries agents, the image of probe pods where no other is known, and the defaults that
the environment or the configuration file set.`,
		RunE: func(*cobra.Command, []string) error {
			switch output {
			case "":
			case "json", "yaml":
				return printBuild(v, output)
			default:
				return usagef("unknown output format %q, want json or yaml", output)
			}
			_, err := fmt.Fprintf(v.streams.Out, "kubectl-mountdoctor %s (%s, %s/%s, %d causes)\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, len(causes.Catalog().Rules))
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "Output format: json or yaml.")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// build is what can be said of this program and of what is in force for it.
type build struct {
	Version      string    `json:"version"`
	Go           string    `json:"go"`
	Platform     string    `json:"platform"`
	Schema       string    `json:"schema"` // of reports
	Causes       int       `json:"causes"`
	Agents       []string  `json:"agents"` // architectures of nodes that it can look at
	DefaultImage string    `json:"defaultImage"`
	ConfigFile   string    `json:"configFile,omitempty"`
	Defaults     []setting `json:"defaults"` // other than the built-in ones
}

func printBuild(v verb, output string) error {
	list, err := settings()
	if err != nil {
		return err
	}
	_, file, err := configFile()
	if err != nil {
		return err
	}
	b := build{
		Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Schema: report.APIVersion, Causes: len(causes.Catalog().Rules),
		Agents: append([]string{}, agents.Architectures()...), DefaultImage: launch.DefaultImage, ConfigFile: file, Defaults: append([]setting{}, list...),
	}
	return render.Data(v.streams.Out, b, output)
}

// version is that of the linker, of the module, or the commit.
func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
