package diagnosis

import (
	"strconv"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// TestProve asks a rule about many places side by side: each answer belongs to its place,
// and a fault costs only the place that it is about.
func TestProve(t *testing.T) {
	t.Parallel()
	const n, bad = 20 * eachWorker, 97
	places := make([]*evidence.Place, n)
	for i := range places {
		places[i] = &evidence.Place{Node: strconv.Itoa(i)}
	}
	rule := &Rule{Prove: func(pl *evidence.Place) []*Proof {
		if i, _ := strconv.Atoi(pl.Node); i%bad == 0 {
			panic(pl.Node)
		}
		return []*Proof{{Says: pl.Node}}
	}}
	for i, made := range prove(rule, places, nil) {
		switch {
		case i%bad == 0:
			if made.err == nil || made.proofs != nil {
				t.Errorf("place %d: %v, %v, want a fault", i, made.proofs, made.err)
			}
		case made.err != nil || len(made.proofs) != 1 || made.proofs[0].Says != strconv.Itoa(i):
			t.Errorf("place %d: %v, %v", i, made.proofs, made.err)
		}
	}
	if got := prove(rule, nil, nil); len(got) != 0 {
		t.Errorf("no place: %v", got)
	}
}
