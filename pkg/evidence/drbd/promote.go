package drbd

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// What DRBD says when it does not make a node Primary (drbd_strings.c): behind "Auto-promote
// failed" when somebody opens the device, behind "State change failed" when a command asks or
// the module is of version 8.
var (
	secondPrimary = []string{"Multiple primaries not allowed by config", byPeer}
	noData        = []string{"Need access to UpToDate data"}
)

// byPeer is what it says when a peer declines; the reason stands in the log of that one.
const byPeer = "State change was refused by peer node"

// dataless is what it says when a request met no copy at all (drbd_req.c).
const dataless = "IO ERROR: neither local nor remote data"

// denied asks whether DRBD freshly gave one of these reasons.
func (r Resource) denied(x *snapshot.Index, reasons []string) evidence.Answer {
	for _, s := range []string{"Auto-promote failed", "State change failed"} {
		said, ok := r.shout[s]
		if ok && x.Age(said.at) < fresh && evidence.ContainsAny(said.to, reasons...) {
			return evidence.Yes(said.fact)
		}
	}
	return evidence.Unseen(evidence.Lack{Need: "why DRBD does not make the node Primary for " + r.Name, Why: "it gave no reason lately"})
}

// NoGoodCopy asks whether no copy of the data that is up to date can be reached: the node's own
// is none, and of its peers none is connected, by the last word on each; and whether DRBD says so.
func (r Resource) NoGoodCopy(x *snapshot.Index) (is, said evidence.Answer) {
	said = r.denied(x, noData)
	if s, ok := r.shout[dataless]; ok && x.Age(s.at) < fresh {
		said = evidence.Yes(s.fact)
	}
	d, known := r.last["disk"]
	if known && d.to == "UpToDate" || !known && !said.Yes() {
		return said, said // of a disk that the log does not reach back to, nobody knows
	}
	var facts []report.Evidence
	for _, key := range slices.Sorted(maps.Keys(r.last)) {
		peer, ok := strings.CutPrefix(key, "conn ")
		switch l := r.last[key]; {
		case !ok || peer == "":
		case l.to == "Connected" || x.Age(l.at) < flap:
			return said, said
		default:
			facts = append(facts, l.fact)
		}
	}
	switch {
	case len(facts) == 0:
		return said, said
	case known:
		facts = append(facts, d.fact)
	}
	return evidence.Yes(facts...), said
}

// PrimaryAt asks whether a peer is Primary while this node is not, which only one of them can
// be, and which; and whether DRBD says that this is why it refuses. A volume that several nodes
// may have at once needs the word: LINSTOR allows two Primaries for it.
func (r Resource) PrimaryAt(pl *evidence.Place) (peer string, is, said evidence.Answer) {
	said = r.denied(pl.X, secondPrimary)
	if r.last["role"].to == "Primary" || !said.Yes() && slices.Contains(pl.Volume.AccessModes(), corev1.ReadWriteMany) {
		return "", evidence.No(), said
	}
	for _, key := range slices.Sorted(maps.Keys(r.last)) {
		name, found := strings.CutPrefix(key, "peer ")
		if l := r.last[key]; found && name != "" && l.to == "Primary" && slices.Contains([]string{"", "Connected"}, r.last["conn "+name].to) {
			return name, evidence.Yes(l.fact), said
		}
	}
	return "", evidence.No(), said
}

// Quiet asks whether nothing on the Primary's node holds the device: no mount, no process,
// no pod of the claim. What holds it there is the root.
func (r Resource) Quiet(pl *evidence.Place, node string) evidence.Answer {
	view := pl.X.View(node)
	if len(pl.Volume.LiveConsumersOn(node)) > 0 {
		return evidence.No()
	}
	if view == nil {
		return evidence.Unseen(evidence.TablesFor(pl.X, pl.Volume, node).Lacks()...)
	}
	if len(view.Uses(r.Dev)) > 0 || len(view.Openers(r.Dev)) > 0 {
		return evidence.No()
	}
	return evidence.TablesFor(pl.X, pl.Volume, node, probes.Mounts, probes.Descriptors).Nothing()
}
