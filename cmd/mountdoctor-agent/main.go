//go:build linux

// Command mountdoctor-agent looks at the node that it runs on and writes what it
// found to standard output. It changes nothing and ends by itself.
package main

import (
	"os"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:], os.Stdout, os.Stderr)) }
