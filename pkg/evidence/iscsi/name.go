package iscsi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The words of iscsiadm about a name, and those by which storage answers an initiator that
// it does not know.
var (
	wrongName    = pattern.MustCompile(`Invalid Initiatorname`)
	nothingShown = pattern.MustCompile(`No portals found`)
	unknownThere = pattern.MustCompile(nothingShown.String() + `|(?i)authorization failure|exit status 24\b`)
)

func saidBy(pl *evidence.Place, words *pattern.Pattern) evidence.Answer {
	return evidence.Texts(Said(pl)).Say(func(t evidence.Text) bool { return words.MatchString(t.Raw) })
}

// NameSaid asks whether iscsiadm complains about a name in fresh words. "Initiatorname
// required" alone also means that the daemon did not answer; wrong tells that the words
// are plain.
func NameSaid(pl *evidence.Place) (wrong bool, a evidence.Answer) {
	if a = saidBy(pl, wrongName); a.Yes() {
		return true, a
	}
	return false, saidBy(pl, nameWords)
}

// NothingShown asks whether the target showed nothing to the node; authorised, too, counts
// a login that it did not let in. Longhorn's own targets accept any valid name, and what another
// target answers is nothing about this volume's.
func NothingShown(pl *evidence.Place, authorised bool) evidence.Answer {
	if pl.Volume == nil || pl.Volume.IsLonghorn() {
		return evidence.No()
	}
	words := nothingShown
	if authorised {
		words = unknownThere
	}
	own, _ := pl.Volume.ISCSITargets(pl.Node)
	return evidence.Texts(Said(pl)).Say(func(t evidence.Text) bool {
		_, targets := named(t.Raw)
		foreign := len(own) > 0 && len(targets) > 0 && !slices.ContainsFunc(targets, func(name string) bool { return slices.Contains(own, name) })
		return !foreign && words.MatchString(t.Raw)
	})
}

// NameLine quotes the line of the file that should hold the name.
func NameLine(view *snapshot.NodeView) report.Evidence {
	file, ok := view.Facts.Files[InitiatorFile]
	if !ok {
		return evidence.FromNode(view.Name, InitiatorFile, "not there")
	}
	for i, l := range strings.Split(file.Content, "\n") {
		if strings.Contains(l, "InitiatorName=") {
			return evidence.FromNode(view.Name, fmt.Sprintf("%s:%d", InitiatorFile, i+1), l)
		}
	}
	return evidence.FromNode(view.Name, InitiatorFile, "no line InitiatorName=")
}

// BadName asks whether the file of the initiator's name was read on the node and holds no
// valid one; the first result says what is wrong with it. Where a probe of these files did
// not come to its end, a name that is missing was perhaps not read.
func BadName(pl *evidence.Place) (defect string, a evidence.Answer) {
	if pl.View == nil {
		return "", pl.Probed().Nothing()
	}
	if defect = nameDefect(pl.View); defect == "" {
		return "", evidence.No()
	}
	ended := evidence.Ended(pl.X, pl.Node, probes.Sessions).And(evidence.Ended(pl.X, pl.Node, probes.Files))
	return defect, ended.Nothing(NameLine(pl.View))
}

// Read says whether the files of the initiator were read whole on the place's node.
func Read(pl *evidence.Place) evidence.Answer {
	return pl.Tables(probes.Sessions, probes.Files).Nothing()
}

// Failing asks whether an attach over iSCSI fails on the place's node now: a fresh failure
// of the volume there, a complaint about a name, or an attach of Longhorn that never ends.
func Failing(pl *evidence.Place) evidence.Answer {
	none := evidence.Unseen(evidence.Lack{Need: "an attach over iSCSI that fails on node " + pl.Node + " now", Node: pl.Node, Why: "none was seen"})
	if pl.Volume == nil {
		return none
	}
	if _, a := NameSaid(pl); a.Yes() {
		return a
	}
	for _, t := range pl.Refused() {
		op := t.Mounts() || strings.HasPrefix(t.Op, "AttachVolume")
		if !t.Ordinary && (op || strings.Contains(t.Locator, "attachError") || t.Reason == "FailedAttachVolume" || t.MountEvent()) {
			return evidence.Yes(t.Evidence())
		}
	}
	if lh := pl.Volume.LH(); lh != nil && (lh.Status.State == "attaching" || lh.Status.State == "detaching") && len(pl.Volume.WaitingOn(pl.Node)) > 0 {
		return evidence.Yes(evidence.FromAPI("Volume "+lh.Name, "status.state", lh.Status.State))
	}
	return none
}

// Dropped says in words what a restart of the daemon costs; empty: the node has no session.
func Dropped(pl *evidence.Place) string {
	if pl.View == nil || len(pl.View.Facts.ISCSI.Sessions) == 0 {
		return ""
	}
	return " The node has iSCSI sessions, which the restart drops: move its pods away first."
}
