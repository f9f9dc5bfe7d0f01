package drbd

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Block is one way in which DRBD keeps a resource from being opened or written.
type Block struct {
	Kind     string // primary, split, apart, quorum, copy, declined, writes, suspended
	Peer     string // where it is decided, if not on the node
	Why      string // in DRBD's own words
	State    evidence.Answer
	Fails    evidence.Answer
	Last     []evidence.Answer
	Degrades bool            // the volume is in use and works
	Held     evidence.Answer // a process that has the device open at the peer is why
}

// Blocked finds how DRBD blocks a resource on the place's node, if it does.
func (r Resource) Blocked(pl *evidence.Place) (b Block, ok bool) {
	why, suspended := r.Suspended(pl.X)
	b.Fails, b.Held = r.Fails(pl), evidence.No()
	if b.Fails.No() {
		b.Fails = suspended // whoever reads or writes it waits
	}
	peer, primary, second := r.PrimaryAt(pl)
	copyless, wanted := r.NoGoodCopy(pl.X)
	decliner, declined := r.Declined(pl.X)
	switch {
	case primary.Yes():
		b.Kind, b.Peer, b.State, b.Last = "primary", peer, primary, []evidence.Answer{r.Quiet(pl, peer), second}
	case r.Split().Yes():
		b.Kind, b.State = "split", r.Split()
		if used := r.InUse(pl); b.Fails.No() && used.Yes() { // it works, without its copy
			b.Kind, b.Fails, b.Degrades = "apart", used, true
		}
	case r.NoQuorum().Yes():
		b.Kind, b.State = "quorum", r.NoQuorum()
	case copyless.Yes():
		b.Kind, b.State, b.Last = "copy", copyless, []evidence.Answer{wanted}
	case declined.Yes() && decliner != "" && !r.Dev.IsZero() && !r.primaryNow():
		b.Kind, b.Peer, b.State, b.Held = "declined", decliner, declined, held(pl)
		reason, said := r.Reason(pl, decliner)
		b.Why, b.Last = reason, []evidence.Answer{said}
	case r.Writes(pl.X).Yes():
		b.Kind, b.State = "writes", r.Writes(pl.X)
		b.Fails, b.Last = b.State, []evidence.Answer{r.Secondary()}
	case suspended.Yes():
		b.Kind, b.State, b.Why = "suspended", suspended, why
	}
	return b, b.Kind != ""
}

// primaryNow tells whether the last word on the role is that the node got it.
func (r Resource) primaryNow() bool { return r.last["role"].to == "Primary" }

// held asks whether a process is seen that keeps the device open at a peer.
func held(pl *evidence.Place) evidence.Answer {
	var facts []report.Evidence
	for _, h := range OpenAtPeer(pl) {
		if h.AtMost != report.Possible && h.Is.Yes() && !h.Last.No() {
			facts = append(facts, h.Is.Facts()...)
		}
	}
	return evidence.When(len(facts) > 0, facts...)
}
