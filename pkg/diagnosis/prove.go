package diagnosis

import (
	"runtime"
	"slices"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
)

const (
	atOnce     = 256 // places whose proofs are held at one time: some kilobytes each
	eachWorker = 128 // places that are worth a goroutine
)

// made is what a rule says of a place: its proofs, or the fault that kept it from them.
type made struct {
	proofs []*Proof
	err    error
}

// prove asks a rule about places, side by side where they are many: it only reads the
// index. What it says stays in the order of the places, so the answer is the same; it is
// written where there is room for it.
func prove(r *Rule, places []*evidence.Place, room []made) []made {
	out := slices.Grow(room[:0], len(places))[:len(places)]
	clear(out)
	var all sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 1+len(places)/eachWorker)
	for w := range workers {
		part := func() {
			for i, end := w*len(places)/workers, (w+1)*len(places)/workers; i < end; i++ {
				if err := fault.Of(func() {
					for ; i < end; i++ {
						out[i].proofs = r.Prove(places[i])
					}
				}); err != nil {
					out[i].err = err
				}
			}
		}
		if w == workers-1 {
			part()
		} else {
			all.Go(part)
		}
	}
	all.Wait()
	return out
}
