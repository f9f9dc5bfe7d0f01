package drbd

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// refusals are how an open ends that DRBD itself does not allow: EMEDIUMTYPE, which no other disk
// answers (ro_open_cond in drbd_main.c), and the words of LINSTOR's driver when it cannot open it.
var refusals = []string{"Wrong medium type", "failed to set source device readwrite", "failed to set source device readonly", "could not open block device"}

// Refused asks whether a step fails because DRBD opens the device for nobody here, while no word of
// it on the peers was seen; sure is not seen then.
func (r Resource) Refused(pl *evidence.Place) (is, sure evidence.Answer) {
	if pl.View != nil && r.Dev.IsZero() || len(r.last) > 0 {
		return evidence.No(), evidence.No()
	}
	is = pl.Refused().Say(func(t evidence.Text) bool {
		return !t.Ordinary && (t.Node == "" || t.Node == pl.Node) && evidence.ContainsAny(t.Raw, refusals...)
	})
	if peer, _ := r.Declined(pl.X); peer != "" && !r.Dev.IsZero() {
		return evidence.No(), evidence.No() // a word of a peer
	}
	if own := r.denied(pl.X, slices.Concat(secondPrimary, noData)); own.Yes() && r.Fails(pl).Yes() {
		is = own
	}
	sure = evidence.Unseen(evidence.Lack{Need: "what drbdadm status says of the peers", Node: pl.Node, Why: "the kernel's log does not reach back to it"})
	if pl.View == nil {
		sure = pl.Probed().Nothing()
	}
	return is, sure
}
