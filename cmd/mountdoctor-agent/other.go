//go:build !linux

// Command mountdoctor-agent runs on nodes, which are Linux machines.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "mountdoctor-agent runs on Linux only")
	os.Exit(1)
}
