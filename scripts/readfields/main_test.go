package main

import (
	"os/exec"
	"testing"
)

// TestTable fails when a rule reads a field that a capture would cut, and when a
// capture keeps a field that no rule reads any more.
func TestTable(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	if err := run("../..", true); err != nil {
		t.Error(err)
	}
}
