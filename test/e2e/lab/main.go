// Lab runs a real Kubernetes cluster on this machine for as long as one command
// takes:
//
//	lab run COMMAND…    start the cluster, run the command in it, remove all
//
// The whole lab, with the command, lives in mount, PID, network, UTS and IPC
// namespaces of its own: when its first process ends, the kernel ends the rest.
package main

import (
	"fmt"
	"os"

	"github.com/mountdoctor/kubectl-mountdoctor/test/e2e/internal/lab"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: lab run COMMAND…")
		os.Exit(2)
	}
	l, inside := lab.FromEnvironment()
	switch {
	case os.Args[1] == "node" && inside:
		fail(l.RunNode(os.Args[2]))
	case os.Args[1] == "inside" && inside:
		os.Exit(runInside(l, os.Args[2:]))
	case os.Args[1] == "run" && !inside:
		os.Exit(runOutside(os.Args[2:]))
	default:
		fmt.Fprintln(os.Stderr, "usage: lab run COMMAND…")
		os.Exit(2)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}
