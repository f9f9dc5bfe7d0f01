package evidence

import (
	"sync/atomic"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Reading says how completely something was read. The zero Reading is complete.
// Every argument from absence goes through one.
type Reading struct {
	lacks []Lack
	made  *[2]atomic.Value // of the Reading of a node that was not probed, which every rule asks for at each of its places
}

// Once keeps what is made of a Reading, under one of two numbers, where it is kept itself.
func (r Reading) Once(number int, of func() any) any {
	if r.made == nil {
		return of()
	}
	kept := &r.made[number]
	if kept.Load() == nil {
		kept.CompareAndSwap(nil, of())
	}
	return kept.Load()
}

// Partial is a Reading that misses something.
func Partial(lacks ...Lack) Reading { return Reading{lacks: lacks} }

// And joins readings: both must be complete.
func (r Reading) And(others ...Reading) Reading {
	out := Reading{lacks: append([]Lack(nil), r.lacks...)}
	for _, o := range others {
		out.lacks = append(out.lacks, o.lacks...)
	}
	return out
}

// Complete tells whether nothing is missing.
func (r Reading) Complete() bool { return len(r.lacks) == 0 }

// Lacks are what is missing.
func (r Reading) Lacks() []Lack { return r.lacks }

// Nothing is the answer "there is none": yes after a complete reading, not seen after
// a partial one. The fact names what was looked through.
func (r Reading) Nothing(fact ...report.Evidence) Answer {
	if r.Complete() {
		return Yes(fact...)
	}
	return Unseen(r.lacks...)
}

// Found is the answer "there is one" of a search: yes when it found something,
// whatever else could not be read; no only after a complete reading.
func (r Reading) Found(facts ...report.Evidence) Answer {
	if facts = solid(facts); len(facts) > 0 {
		return Yes(facts...)
	}
	if r.Complete() {
		return No()
	}
	return Unseen(r.lacks...)
}
