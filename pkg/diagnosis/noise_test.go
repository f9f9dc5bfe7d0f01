package diagnosis_test

import (
	"maps"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// noisy are cases for which a kind of noise is evidence.
var noisy = map[string]string{
	"iscsi-service-boot-hang-1024 processes": "the machine boots: a process that runs there says how far it came",
}

// TestNoiseChangesNothing lets other things go wrong around each case, on the same machines and
// in the same logs: what is found of the question stays.
func TestNoiseChangesNothing(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		want := found(recorded(t, c), func(s string) string { return s })
		for _, kind := range slices.Sorted(maps.Keys(corpus.Noise)) {
			if noisy[c.Name+" "+kind] != "" || !corpus.Tried(8, c.Name, kind) {
				continue
			}
			got := found(evaluate(c, corpus.Noise[kind](shared(t, dir))), func(s string) string { return s })
			if d := diff.Diff(want, got); d != "" {
				t.Errorf("with noise in %s (-want +got):\n%s", kind, d)
			}
		}
	})
}
