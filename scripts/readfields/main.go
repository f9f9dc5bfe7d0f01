// Readfields finds which fields of Kubernetes' types the rules and the index read,
// by the types of the source, and writes them as the table by which a capture is
// cut (pkg/snapshot/trim_fields.go).
//
//	go run ./scripts/readfields          rewrite the table
//	go run ./scripts/readfields -check   fail when it would change
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// table is where the result stands, from the root of the module.
const table = "pkg/snapshot/trim_fields.go"

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "readfields:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	want, err := generate(root)
	if err != nil {
		return err
	}
	path := filepath.Join(root, filepath.FromSlash(table))
	if !check {
		return os.WriteFile(path, want, 0o644)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s is not what the rules read: run make read-fields and look at what a capture gains or loses", table)
	}
	return nil
}
