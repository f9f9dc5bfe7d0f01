package iscsi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Twins are other nodes with the initiator name of a place's node and sessions to the
// same target system.
type Twins struct {
	Nodes  []string
	Portal string
	shared []string // all addresses to which two of them have sessions
	Is     evidence.Answer
}

// twinsOf finds them among the nodes that were looked at. Longhorn's targets are on the
// node itself and let any name in.
func twinsOf(pl *evidence.Place) Twins {
	out := Twins{Is: evidence.No()}
	if pl.View == nil || !Valid(&pl.View.Facts.ISCSI) {
		return out
	}
	mine, facts := remotePortals(pl.View), []report.Evidence{NameLine(pl.View)}
	for _, name := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		o := pl.X.View(name)
		if name == pl.Node || o.Facts.ISCSI.InitiatorName != pl.View.Facts.ISCSI.InitiatorName {
			continue
		}
		both := evidence.Keep(remotePortals(o), func(at string) bool { return slices.Contains(mine, at) })
		if len(both) > 0 {
			out.Portal, out.shared = cmp.Or(out.Portal, both[0]), append(out.shared, both...)
			out.Nodes, facts = append(out.Nodes, name), append(facts, NameLine(o))
		}
	}
	out.Is = evidence.When(len(out.Nodes) > 0, facts...)
	return out
}

// Group is a set of nodes with one name, seen from one of them.
type Group struct {
	Place *evidence.Place
	Twins Twins
}

// GroupsAt are the groups of a place's node; of a question about the whole cluster, every
// group once. A volume that is used on several nodes of a group has one, too.
func GroupsAt(pl *evidence.Place) []Group {
	if pl.Node != "" {
		t := twinsOf(pl)
		earlier := func(n string) bool { return pl.Volume != nil && n < pl.Node && len(pl.Volume.LiveConsumersOn(n)) > 0 }
		if len(t.Nodes) == 0 || slices.ContainsFunc(t.Nodes, earlier) {
			return nil
		}
		return []Group{{pl, t}}
	}
	var out []Group
	var seen []string
	for _, name := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		at := evidence.NodePlace(pl.X, name)
		if t := twinsOf(at); len(t.Nodes) > 0 && !slices.Contains(seen, name) {
			out, seen = append(out, Group{at, t}), append(seen, t.Nodes...)
		}
	}
	return out
}

// remotePortals are the addresses of the target systems that a node has sessions with.
func remotePortals(view *snapshot.NodeView) []string {
	var out []string
	for _, s := range view.Facts.ISCSI.Sessions {
		for _, c := range s.Connections {
			at := c.PersistentAddress
			at = cmp.Or(at, c.Address)
			if at != "" && !strings.HasPrefix(s.Target, longhornTargets) && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// enoughDrops make chance unlikely.
const enoughDrops = 3

// Drops asks whether a connection of a place's node or of its twins to what they share is
// closed by the other side again and again, and which.
func (t Twins) Drops(x *snapshot.Index, here string) (connection string, times int, a evidence.Answer) {
	var unread evidence.Reading
	for _, n := range append([]string{here}, t.Nodes...) {
		view := x.View(n)
		if view == nil {
			continue
		}
		unread = unread.And(evidence.Ended(x, n, probes.KernelLog))
		if all := dropsOn(x, view, t.shared); len(all) >= enoughDrops {
			facts := evidence.Each(all[:min(5, len(all))], func(d drop) report.Evidence { return d.fact })
			return all[0].connection, len(all), evidence.Yes(facts...)
		}
	}
	none := evidence.Lack{Need: "sessions that are dropped and recovered every few seconds", Why: "none were seen"}
	return "", 0, evidence.Unseen(append(unread.Lacks(), none)...)
}

// drop is one connection that the target closed.
type drop struct {
	connection string
	fact       report.Evidence
}

// The words of iscsid in a text log of the host (usr/initiator.c); 1020 is a TCP
// connection that the other side closed. What a lost network leaves is 1011 and 1022.
var iscsidDrop = pattern.MustCompile(`Kernel reported iSCSI connection (\d+:\d+) error \(1020\b`)

// dropsOn are the fresh drops of the connection that was closed most often, by the
// kernel's log, else by iscsid's.
func dropsOn(x *snapshot.Index, view *snapshot.NodeView, shared []string) []drop {
	by := map[string][]drop{}
	for _, l := range view.KernelLines(kmsg.ISCSIConnError) {
		if strings.Contains(l.Text, "(1020)") && lineAge(x, view, l) < lately && len(l.Names) > 0 && leadsTo(view, l.Names[0], shared) {
			by[l.Names[0]] = append(by[l.Names[0]], drop{l.Names[0], evidence.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text)})
		}
	}
	if most := longest(by); len(most) >= enoughDrops {
		return most
	}
	by = map[string][]drop{}
	for l := range evidence.HostLines(x, view) {
		if !strings.Contains(l.Text, "Kernel reported iSCSI") {
			continue
		}
		m := iscsidDrop.FindStringSubmatch(l.Text)
		if m == nil {
			continue
		}
		said, c := l.At(), "connection"+m[1]
		if !said.IsZero() && x.Age(said) < lately && leadsTo(view, c, shared) {
			by[c] = append(by[c], drop{c, l.Evidence()})
		}
	}
	return longest(by)
}

func longest(by map[string][]drop) []drop {
	var most []drop
	for _, c := range slices.Sorted(maps.Keys(by)) {
		if len(by[c]) > len(most) {
			most = by[c]
		}
	}
	return most
}

// lineAge is the age of a kernel line; without a clock by the time since boot.
func lineAge(x *snapshot.Index, view *snapshot.NodeView, l probes.KernelLine) time.Duration {
	if !l.At.IsZero() {
		return x.Age(l.At)
	}
	return view.Facts.Identity.Uptime - time.Duration(l.Micros)*time.Microsecond
}

// leadsTo tells whether a connection leads to one of some addresses, and not to a target of Longhorn, which
// goes away with its engine; one that is not there any more may have.
func leadsTo(view *snapshot.NodeView, connection string, addresses []string) bool {
	for _, s := range view.Facts.ISCSI.Sessions {
		for _, c := range s.Connections {
			if c.Name == connection {
				return !strings.HasPrefix(s.Target, longhornTargets) && slices.Contains(addresses, cmp.Or(c.PersistentAddress, c.Address))
			}
		}
	}
	return true
}

// Lives asks whether a live pod on the place's node reaches the volume over iSCSI from
// elsewhere. Of a node as a whole, nothing of it is asked.
func Lives(pl *evidence.Place) evidence.Answer {
	v := pl.Volume
	return evidence.When(v == nil || !v.IsLonghorn() && len(v.LiveConsumersOn(pl.Node)) > 0 && Uses(pl.X, v, pl.Texts))
}

// Suffers asks whether the volume has trouble on the place's node that lost sessions make.
func Suffers(pl *evidence.Place) evidence.Answer {
	if pl.Volume == nil {
		return evidence.Yes()
	}
	if said := pl.Felt().Say(func(t evidence.Text) bool {
		return !t.Ordinary && (t.Is(message.InputOutputError) || t.Is(message.ReadOnlyFilesystem) || t.Mounts() || strings.HasPrefix(t.Op, "AttachVolume"))
	}); said.Yes() {
		return said
	}
	return Breaks(pl)
}

// Everyone says whether the sessions of every node were read that was looked at, or should have
// been: any of them can have the name of another.
func Everyone(x *snapshot.Index) evidence.Reading {
	return x.Memo("iscsi.Everyone", func() any {
		var r evidence.Reading
		for _, n := range slices.Sorted(maps.Keys(x.Nodes)) {
			if x.View(n) != nil && !evidence.NotAsked(x, n, probes.Sessions) {
				r = r.And(evidence.Tables(x, n, probes.Sessions))
			}
		}
		for _, n := range x.Cluster.Nodes {
			if gap, lost := x.Gap("node/" + n.Name); lost && x.View(n.Name) == nil && gap.Reason != snapshot.NotRequested {
				r = r.And(evidence.Tables(x, n.Name, probes.Sessions))
			}
		}
		return r
	}).(evidence.Reading)
}
