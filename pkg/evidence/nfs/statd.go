package nfs

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Locks is a mount that was refused because nobody on the client watches over NFSv3's locks.
type Locks struct {
	Refusal
	Plain  bool            // mount.nfs asked itself and says so
	Script string          // what the script that starts the daemon said
	Tied   evidence.Answer // that the words are about this, and the mount one of NFSv3
}

// LocksOf finds the refusal of the place's node. The line about an incorrect option alone
// means this only for NFSv3 with locks on a node that was looked at.
func LocksOf(pl *evidence.Place) (Locks, bool) {
	r, ok := refused(pl, func(t evidence.Text) bool {
		return (strings.Contains(t.Raw, "statd") || strings.Contains(t.Raw, "mount.nfs")) && (statdWords.MatchString(t.Raw) || badOption.MatchString(t.Raw))
	})
	if !ok {
		return Locks{}, false
	}
	v3 := r.Version() == "" || strings.HasPrefix(r.Version(), "3")
	words := statdWords.MatchString(r.Text.Raw)
	if !words && (pl.View == nil || !strings.HasPrefix(r.Version(), "3") || r.asked("nolock")) {
		return Locks{}, false
	}
	l := Locks{Refusal: r, Plain: statdAbsent.MatchString(r.Text.Raw), Script: strings.TrimSpace(statdScript.FindString(r.Text.Raw)), Tied: evidence.Yes()}
	if !words || !v3 {
		l.Tied = evidence.Unseen(evidence.Lack{Need: "the words of mount.nfs about rpc.statd", Node: pl.Node, Why: "it only calls an option incorrect"})
	}
	return l, true
}

// NoStatd asks whether rpc.statd does not run on the place's node; at is its program.
func NoStatd(pl *evidence.Place) (at string, a evidence.Answer) {
	if pl.View == nil {
		return "", pl.Probed().Nothing()
	}
	if len(pl.View.Facts.NFS.StatdPIDs) > 0 {
		return "", evidence.No()
	}
	a = pl.Tables(probes.Processes).Nothing(evidence.FromNode(pl.Node, "proc/*/comm", "no rpc.statd"))
	if at = pl.View.Facts.Tool("rpc.statd"); at != "" {
		a = a.With(evidence.FromNode(pl.Node, strings.TrimPrefix(at, "/"), "there"))
	}
	return at, a
}
