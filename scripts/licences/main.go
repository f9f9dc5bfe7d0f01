// Command licences writes docs/licences.md: every module that is linked into the plugin
// or the agent on any platform of a release, and its licence.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/modules"
)

// platforms stand for all of a release: what a processor's kind changes is no module.
var platforms = []string{"linux/amd64", "darwin/arm64", "windows/amd64"}

const ours = "github.com/mountdoctor/kubectl-mountdoctor/cmd/..."

func main() {
	out := flag.String("out", "docs/licences.md", "file to write")
	flag.Parse()
	text, err := report()
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// report is the document. A module whose licence is not known is an error: somebody
// must read it.
func report() (string, error) {
	all := map[string]modules.Module{}
	for _, p := range platforms {
		list, err := modules.Linked(p, ours)
		if err != nil {
			return "", err
		}
		for _, m := range list {
			if len(m.Licences) == 0 {
				return "", fmt.Errorf("the licence of %s %s is not known (files: %s)", m.Path, m.Version, strings.Join(m.Files, ", "))
			}
			all[m.Path] = m
		}
	}
	var b strings.Builder
	b.WriteString("# Licences\n\nmountdoctor is under the Apache License 2.0. These modules are linked into the plugin on some\n" +
		"platform of a release; the agent that runs on nodes holds golang.org/x/sys alone. The Go standard\nlibrary is BSD-3-Clause. " +
		"Where a module names several licences, some of its code was taken over\nfrom elsewhere.\n\n" +
		"Written by `make licences`; a test fails when it is not current.\n\n| module | version | licence |\n| --- | --- | --- |\n")
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, m.Version, m.Expression())
	}
	return b.String(), nil
}
