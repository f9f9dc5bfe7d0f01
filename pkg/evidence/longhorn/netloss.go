package longhorn

import (
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// netWords are how a broken connection between two processes reads.
var netWords = pattern.MustCompile(`(?i)i/o timeout|connection timed out|connection reset|no route to host|broken pipe|r/w timeout|read timeout|write timeout|transport is closing|error reading from (server|wire)|no response received|keepalive|\bDisconnection\b`)

func ofNetwork(text string) bool {
	low := strings.ToLower(text)
	return evidence.ContainsAny(low, "time", "reset", "route", "pipe", "closing", "reading", "response", "keepalive", "disconnection") && netWords.MatchString(text)
}

// often is how many times a connection breaks that is unstable.
const often = 3

// Broken is a replica whose connection to the engine breaks again and again.
type Broken struct {
	Replica *snapshot.LHReplica
	Engine  *snapshot.LHEngine
	Times   int
	Hosts   int // replicas whose connection the engine's own log calls broken
	Pair    int // volumes of the cluster that fail between the same two nodes
	Near    int // those that fail between others and the replica's node
	first   time.Time
	facts   []report.Evidence
}

// BrokenOf are those of the place's volume, with how many others fail alike.
func BrokenOf(pl *evidence.Place) []Broken {
	if lh := pl.Volume.LH(); lh == nil || lh.Status.Robustness == "healthy" {
		return nil
	}
	out := breaksOf(pl.X, pl.Volume)
	for i := range out {
		out[i].share(pl.X)
	}
	return out
}

// breaksOf lists the replicas of a volume on other nodes than the engine's of which objects
// or events say, more than once, that the connection broke.
func breaksOf(x *snapshot.Index, v *snapshot.Volume) []Broken {
	e := x.EngineActive(v)
	if e == nil || e.NodeID == "" {
		return nil
	}
	var out []Broken
	hosts, lines, heard := 0, []report.Evidence(nil), false
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID == "" || r.NodeID == e.NodeID || e.ReplicaModes[r.Name] == "RW" && !rebuildFailed(r) {
			continue
		}
		if !heard { // a log is long: it is read for a volume that lacks a replica only
			hosts, lines = engineLog(x, e)
			heard = true
		}
		b := Broken{Replica: r, Engine: e, Hosts: hosts}
		network, mute := b.count(x)
		network = network || len(lines) > 0 || mute && b.packetsLost(x)
		b.facts = append(b.facts, lines...)
		if network && b.Times >= often && !b.restarted(x) {
			out = append(out, b)
		}
	}
	return out
}

// packetsLost tells whether the counters of an end show that its network loses packets: that
// is why, when Longhorn gives no reason.
func (b *Broken) packetsLost(x *snapshot.Index) bool {
	_, here := machine.Lossy(x, b.Engine.NodeID)
	_, there := machine.Lossy(x, b.Replica.NodeID)
	return here.Yes() || there.Yes()
}

// count adds up the failures of the last hour, and tells whether one names the network, or
// none any reason: "Detected replica r (address) in error" (engine_controller.go) has none.
func (b *Broken) count(x *snapshot.Index) (network, mute bool) {
	r, e := b.Replica, b.Engine
	mute = true
	if c, ok := r.Conditions.Get("RebuildFailed"); ok && c.Status == "True" && !ofNetwork(c.Reason+" "+c.Message) {
		mute = false
	} else if ok && c.Status == "True" {
		network = true
		b.Times += max(1, int(r.RebuildRetries))
		b.facts = append(b.facts, evidence.FromAPI("Replica "+r.Name, "status.conditions[RebuildFailed]", strings.TrimSpace(c.Reason+" "+c.Message)))
	}
	for _, ev := range x.Events("Engine", e.Namespace, e.Name) {
		if ev.Reason != "FailedRebuilding" && ev.Reason != "Faulted" && !strings.Contains(ev.Message, "in error") || !speaksOf(x, ev.Message, r) || x.Age(ev.Last) > time.Hour {
			continue
		}
		network = network || ofNetwork(ev.Message)
		mute = mute && strings.HasSuffix(ev.Message, "in error")
		b.Times += max(1, ev.Count)
		if b.first.IsZero() || !ev.First.IsZero() && ev.First.Before(b.first) {
			b.first = ev.First
		}
		b.facts = append(b.facts, evidence.FromEvent("Engine "+e.Name, ev))
	}
	return network, mute
}

// restarted tells whether an instance-manager of either end began later than the failures:
// then its restart is the reason of what came before.
func (b *Broken) restarted(x *snapshot.Index) bool {
	for _, node := range []string{b.Replica.NodeID, b.Engine.NodeID} {
		for _, im := range x.InstanceManagersOn(node) {
			at := startOf(x, im)
			if im.Name != b.Replica.InstanceManager && im.Name != b.Engine.InstanceManager || at.IsZero() {
				continue
			}
			if !b.first.IsZero() && at.After(b.first.Add(-time.Minute)) || x.Age(at) < freshFor {
				return true
			}
		}
	}
	return false
}

// share counts the volumes of the cluster whose connections break: between the same two
// nodes, and to the same replica node from elsewhere.
func (b *Broken) share(x *snapshot.Index) {
	for _, v := range x.Volumes {
		if v.LH() == nil {
			continue
		}
		for _, o := range breaksOf(x, v) {
			same := o.Replica.NodeID == b.Replica.NodeID && o.Engine.NodeID == b.Engine.NodeID || o.Replica.NodeID == b.Engine.NodeID && o.Engine.NodeID == b.Replica.NodeID
			if same {
				b.Pair++
			} else if o.Replica.NodeID == b.Replica.NodeID {
				b.Near++
			} else {
				continue
			}
			break
		}
	}
}

// Is is what says that the connection breaks.
func (b Broken) Is() evidence.Answer { return evidence.Yes(b.facts...) }

// Shared asks whether other volumes fail the same way, or the engine lost several replicas
// at once.
func (b Broken) Shared() evidence.Answer {
	if b.Pair+b.Near >= 2 || b.Hosts >= 2 {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/engines", Why: "a second volume that fails between the same two nodes"})
}

// SamePair asks whether another volume fails between the same two nodes.
func (b Broken) SamePair() evidence.Answer {
	if b.Pair >= 2 {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/engines", Why: "a second volume that fails between the same two nodes"})
}

var (
	peer       = pattern.MustCompile(`(?:tcp://|wire )(\S+?):\d+\b`)
	engineTime = pattern.MustCompile(`time="([^"]+)"`)
)

// engineLog looks in the log of the engine's instance-manager, where each line begins with
// the engine's name, for connections to replicas that broke in the last hour. It returns how
// many replicas they lead to, and the last two lines.
func engineLog(x *snapshot.Index, e *snapshot.LHEngine) (int, []report.Evidence) {
	var hosts []string
	var out []report.Evidence
	if e.InstanceManager == "" {
		return 0, nil
	}
	for l := range evidence.Lines(x.LogsOf(e.Namespace, e.InstanceManager)) {
		if !strings.Contains(l.Text, e.Name) || !ofNetwork(l.Text) {
			continue
		}
		m := engineTime.FindStringSubmatch(l.Text)
		if m == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, m[1]); err != nil || x.Age(at) > time.Hour {
			continue
		}
		if to := peer.FindStringSubmatch(l.Text); to != nil {
			hosts = evidence.Once(hosts, to[1])
		}
		if len(out) < 2 {
			out = append(out, l.Evidence())
		}
	}
	return len(hosts), out
}
