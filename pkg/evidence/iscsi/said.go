package iscsi

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// lately is how old a text may be that speaks of the present.
const lately = 10 * time.Minute

// Said are the fresh texts of the place's node that speak of iSCSI, newest first: those
// of the place, the logs of all pods that run there, and the text logs that the host
// keeps, because one fault of the initiator fails every volume of the node.
func Said(pl *evidence.Place) []evidence.Text {
	var out []evidence.Text
	seen := map[string]bool{}
	add := func(t evidence.Text) {
		if t.Fresh && !seen[t.Raw] && strings.Contains(strings.ToLower(t.Raw), "iscsi") && !served(pl, t) {
			seen[t.Raw] = true
			out = append(out, t)
		}
	}
	for _, t := range pl.Texts {
		add(t)
	}
	for _, l := range evidence.VouchedOn(pl.X, pl.Node) {
		for i, line := range l.Lines {
			add(lineText(pl, l.Container, evidence.Line{Log: &l, Number: i + 1}.Locator(), line, message.Date(line, pl.X.TakenAt)))
		}
	}
	for l := range evidence.HostLines(pl.X, pl.View) {
		add(lineText(pl, "host", l.Locator(), l.Text, l.At()))
	}
	slices.SortStableFunc(out, func(a, b evidence.Text) int { return b.At.Compare(a.At) })
	return out
}

// served tells whether a text names a volume that its pods on the node got since.
func served(pl *evidence.Place, t evidence.Text) bool {
	return t.Source == "log" && slices.ContainsFunc(pl.X.VolumesOn(pl.Node), func(v *snapshot.Volume) bool {
		return strings.Contains(t.Raw, nameOf(v)) && v.ServedSince(pl.Node, t.At)
	})
}

func lineText(pl *evidence.Place, component, locator, line string, at time.Time) evidence.Text {
	fresh := !at.IsZero() && pl.X.Age(at) < lately
	t := evidence.Text{Source: "log", Component: component, Locator: locator, Node: pl.Node, At: at, Fresh: fresh, Raw: line}
	if fresh && strings.Contains(strings.ToLower(line), "iscsi") {
		t.Failure = message.Parse(line)
	}
	return t
}
