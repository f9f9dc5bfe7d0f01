package main

import "testing"

// TestList fails when a rule looks for a word that a redacted capture would replace.
func TestList(t *testing.T) {
	if err := run("../..", true); err != nil {
		t.Error(err)
	}
}
