package plugin

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
)

// Version is set by the linker in a release: -X …/pkg/plugin.Version=v1.2.3.
var Version = ""

// newVersion is the verb that says which build this is.
func newVersion(v verb) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(v.streams.Out, "kubectl-mountdoctor %s (%s, %s/%s, %d causes)\n",
				version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, len(causes.Catalog().Rules))
			return err
		},
	}
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
