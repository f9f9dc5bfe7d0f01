package mountns

import (
	"context"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// TestEmptyTable: a living process has at least a root; of one that ends nothing is missed.
func TestEmptyTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stat  string
		whole bool
	}{
		"lives":   {"7 (app) S 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0", false},
		"ends":    {"7 (app) D 1 7 7 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0", true},
		"unknown": {"", false},
	} {
		recording := "-- proc/7/mountinfo --\n"
		if c.stat != "" {
			recording += "-- proc/7/stat --\n" + c.stat + "\n"
		}
		h, err := host.ParseRecording([]byte(recording))
		if err != nil {
			t.Fatal(err)
		}
		f := &probes.Facts{Processes: []probes.Process{{PID: 7, MntNS: 20}}}
		if err := Run(context.Background(), h, f); err != nil {
			t.Fatal(err)
		}
		if whole := len(f.Problems) == 0; whole != c.whole {
			t.Errorf("%s: whole %v, want %v: %v", name, whole, c.whole, f.Problems)
		}
	}
}
