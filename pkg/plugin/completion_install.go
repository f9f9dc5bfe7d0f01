package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/deploy/completion"
)

// shim is the program that kubectl looks for to complete a plugin's arguments
// (k8s.io/kubectl, pkg/cmd/plugin/plugin_completion.go).
const shim = "kubectl_complete-mountdoctor"

// addInstall gives cobra's command for completion one that installs it.
func addInstall(root *cobra.Command, v verb) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "Complete arguments with the Tab key"
			c.AddCommand(newInstall(v))
		}
	}
}

// newInstall is the verb that puts the shim beside the plugin.
func newInstall(v verb) *cobra.Command {
	dir := ""
	cmd := &cobra.Command{
		Use: "install", Short: "Let kubectl complete the plugin: kubectl mountdoctor <TAB>",
		Long: `Write the program kubectl_complete-mountdoctor, which kubectl calls to complete the
arguments of the plugin, beside the plugin or to --to. The completion of kubectl
itself must be set up in the shell (kubectl completion --help). krew does not install
it: run this after kubectl krew install. To take it back, remove the file.`,
		Example: `  # beside the plugin
  kubectl mountdoctor completion install

  # where you may write, a directory of PATH
  kubectl mountdoctor completion install --to ~/.local/bin`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return install(v, dir) },
	}
	cmd.Flags().StringVar(&dir, "to", "", "Directory of PATH to write to. Default: that of the plugin.")
	must(cmd.MarkFlagDirname("to"))
	return cmd
}

func install(v verb, dir string) error {
	if runtime.GOOS == "windows" {
		return errors.New("kubectl on Windows starts no script: complete with kubectl-mountdoctor completion powershell")
	}
	if dir == "" {
		program, err := thisProgram()
		if err != nil {
			return err
		}
		dir = filepath.Dir(program)
	}
	path := filepath.Join(dir, shim)
	switch was, err := os.ReadFile(path); {
	case err == nil && bytes.Equal(was, completion.Shim):
		fmt.Fprintf(v.streams.Out, "%s is there already.\n", path)
		return nil
	case err == nil:
		return fmt.Errorf("%s exists and is another program; nothing is replaced", path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if err := os.WriteFile(path, completion.Shim, 0o755); err != nil {
		return fmt.Errorf("write completion: %w (--to names another directory)", err)
	}
	fmt.Fprintf(v.streams.Out, "Wrote %s.\n", path)
	if !slices.Contains(filepath.SplitList(os.Getenv("PATH")), dir) {
		fmt.Fprintf(v.streams.ErrOut, "warning: %s is not in PATH, where kubectl looks for it\n", dir)
	}
	return nil
}

// thisProgram is where this program lies; krew links it into its directory of PATH.
func thisProgram() (string, error) {
	program := os.Args[0]
	if !filepath.IsAbs(program) {
		var err error
		if program, err = os.Executable(); err != nil {
			return "", fmt.Errorf("find this program: %w", err)
		}
	}
	return program, nil
}
