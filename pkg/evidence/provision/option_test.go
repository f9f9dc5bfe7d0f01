package provision

import (
	"strings"
	"testing"
)

// TestWithoutOption: the patch was put to Kubernetes 1.34, and the volume was mounted after it. It
// is a test of the value first: the list may have changed since it was read.
func TestWithoutOption(t *testing.T) {
	t.Parallel()
	const want = `kubectl patch pv pvc-1 --type json -p '[{"op":"test","path":"/spec/mountOptions/1","value":"discrad"},{"op":"remove","path":"/spec/mountOptions/1"}]'`
	if got := withoutOption("pvc-1", 1, "discrad"); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
	if got := withoutOption("--all", 0, "x"); strings.Contains(got, "--all") {
		t.Errorf("a name that is an option: %s", got)
	}
}
