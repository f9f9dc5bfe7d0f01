package snapshot_test

import (
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow: it is small, and thousands of snapshots come and go.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}
