package holder

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

// Open says whether objects were read that would show a cause, while a pod waits for the place's
// volume or is being deleted with it; while none does, nothing is missed.
func Open(pl *evidence.Place, resources ...string) evidence.Reading {
	if pl.Volume == nil || len(pl.Volume.Waiting())+len(pl.Volume.Terminating()) == 0 {
		return evidence.Reading{}
	}
	return evidence.Resources(pl.X, resources...)
}
