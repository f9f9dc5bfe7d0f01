// Command man writes the manual pages of the plugin, one for each verb, into dist/man.
// It is a program of its own because the generator links text/template, which would
// make the plugin's linker keep every exported method.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra/doc"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/plugin"
)

func main() {
	out := flag.String("out", filepath.Join("dist", "man"), "directory for the pages")
	version := flag.String("version", "", "version, for the pages' foot")
	flag.Parse()
	if err := pages(*out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// pages have a fixed date, so that one commit always gives the same bytes.
func pages(out, version string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var code int
	cmd := plugin.NewCmd(genericiooptions.IOStreams{In: os.Stdin, Out: io.Discard, ErrOut: io.Discard}, &code)
	cmd.DisableAutoGenTag = true
	date := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	return doc.GenManTree(cmd, &doc.GenManHeader{Section: "1", Date: &date, Source: "mountdoctor " + version, Manual: "kubectl plugins"}, out)
}
