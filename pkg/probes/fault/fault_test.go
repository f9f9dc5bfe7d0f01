package fault_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
)

func TestOf(t *testing.T) {
	t.Parallel()
	ran := false
	if err := fault.Of(func() { ran = true }); err != nil || !ran {
		t.Errorf("a part that works: ran %t, %v", ran, err)
	}
	var none []string
	err := fault.Of(func() { _ = none[len(none)] })
	var f *fault.Error
	if !errors.As(err, &f) || !strings.Contains(f.Error(), "index out of range") || !strings.HasPrefix(f.Place, "pkg/probes/fault_test.TestOf") || !strings.Contains(f.Place, "(fault_test.go:") {
		t.Errorf("a panic: %v", err)
	}
}
