package holder

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

// Open is what keeps a cause from being looked for, while a pod waits for the place's volume
// or is being deleted with it: objects that would show it were not read. Nil: nothing does.
func Open(pl *evidence.Place, resources ...string) []evidence.Answer {
	whole := evidence.Resources(pl.X, resources...)
	if pl.Volume == nil || whole.Complete() || len(pl.Volume.Waiting())+len(pl.Volume.Terminating()) == 0 {
		return nil
	}
	return []evidence.Answer{whole.Nothing()}
}
