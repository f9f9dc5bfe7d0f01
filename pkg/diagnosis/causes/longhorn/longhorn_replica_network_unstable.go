package longhorn

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_replica_network_unstable.md
var longhornReplicaNetworkUnstableDoc string

// ReplicaNetworkUnstable finds replicas that fail and rebuilds that break off because
// the network between engine and replica loses packets.
var ReplicaNetworkUnstable = &diagnosis.Rule{
	Name: "longhorn-replica-network-unstable", Layer: diagnosis.Longhorn, Severity: report.Degraded,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/replicas"), diagnosis.API("longhorn.io/engines")},
	Explains: []string{"volume-degraded", "volume-io-error", "volume-readonly", "volume-attach-loop"},
	LeadsTo:  []string{"longhorn-replica-inconsistent", "longhorn-volume-faulted", "filesystem-readonly-after-error", "longhorn-remount-pending"},
	Doc:      longhornReplicaNetworkUnstableDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || !p.Suffers(v, "volume-degraded", "volume-io-error", "volume-readonly", "volume-attach-loop") {
				continue
			}
			for _, b := range breaksOf(p, v) {
				networkUnstable(p, v, lh, b)
			}
		}
	},
}

// netWords are how a broken connection between two processes reads.
var netWords = regexp.MustCompile(`(?i)i/o timeout|connection timed out|connection reset|no route to host|broken pipe|r/w timeout|read timeout|write timeout|transport is closing|error reading from (server|wire)|no response received|keepalive|\bDisconnection\b`)

// broken is a replica whose connection to the engine breaks again and again.
type broken struct {
	replica  *snapshot.LHReplica
	engine   *snapshot.LHEngine
	times    int
	first    time.Time
	hosts    int // replicas whose connection the engine's own log calls broken
	evidence []report.Evidence
}

// breaksOf lists the replicas of a volume on other nodes than the engine's of which
// objects or events say, more than once, that the connection broke.
func breaksOf(p *diagnosis.Pass, v *snapshot.Volume) []broken {
	e := p.EngineActive(v)
	if e == nil || e.NodeID == "" {
		return nil
	}
	var out []broken
	hosts, lines := engineLog(p, e)
	for _, r := range v.Longhorn.Replicas {
		if r.NodeID == "" || r.NodeID == e.NodeID || e.ReplicaModes[r.Name] == "RW" && !lhe.RebuildFailed(r) {
			continue
		}
		b := broken{replica: r, engine: e, hosts: hosts}
		network := len(lines) > 0
		if c, ok := r.Conditions.Get("RebuildFailed"); ok && c.Status == "True" && netWords.MatchString(c.Reason+" "+c.Message) {
			network = true
			b.times += max(1, int(r.RebuildRetries))
			b.evidence = append(b.evidence, diagnosis.FromAPI("Replica "+r.Name, "status.conditions[RebuildFailed]", strings.TrimSpace(c.Reason+" "+c.Message)))
		}
		for _, ev := range p.Events("Engine", e.Namespace, e.Name) {
			if ev.Reason != "FailedRebuilding" && ev.Reason != "Faulted" && !strings.Contains(ev.Message, "in error") || !lhe.SpeaksOf(p.Index, ev.Message, r) || p.Age(ev.Last) > time.Hour {
				continue
			}
			network = network || netWords.MatchString(ev.Message)
			b.times += max(1, ev.Count)
			if b.first.IsZero() || !ev.First.IsZero() && ev.First.Before(b.first) {
				b.first = ev.First
			}
			b.evidence = append(b.evidence, report.Evidence{Source: "event", Locator: "Event Engine " + e.Name + " " + ev.Reason, Text: ev.Message})
		}
		b.evidence = append(b.evidence, lines...)
		if network && b.times >= 3 && !restartedSince(p, b) {
			out = append(out, b)
		}
	}
	return out
}

// restartedSince tells whether an instance-manager of either end began later than
// the failures: then its restart is the reason of what came before.
func restartedSince(p *diagnosis.Pass, b broken) bool {
	for _, node := range []string{b.replica.NodeID, b.engine.NodeID} {
		for _, im := range p.InstanceManagersOn(node) {
			at := lhe.StartOf(p.Index, im)
			if im.Name != b.replica.InstanceManager && im.Name != b.engine.InstanceManager || at.IsZero() {
				continue
			}
			if !b.first.IsZero() && at.After(b.first.Add(-time.Minute)) || p.Age(at) < freshFor {
				return true
			}
		}
	}
	return false
}

func networkUnstable(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, b broken) {
	pair, near := sharing(p, b)
	here, h := lossy(p.View(b.engine.NodeID))
	there, t := lossy(p.View(b.replica.NodeID))
	c := report.Possible
	switch {
	case here != "" && there != "" && pair >= 2:
		c = report.Certain
	case here != "" || there != "" || pair+near >= 2 || b.hosts >= 2:
		c = report.Likely
	}
	f := p.Find(c, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v).Located(b.replica.NodeID).Located(b.engine.NodeID)
	f.Sayf("The network between node %s (engine of volume %s) and node %s (replica %s) loses packets: the connection broke %d times, and the replica is dropped and rebuilt again and again. %s The instance-managers of both nodes run on, so it is the way between them.%s",
		b.engine.NodeID, lh.Name, b.replica.NodeID, b.replica.Name, b.times, sharedWords(pair, near, b), counterWords(p, b, here, there))
	f.Fact(b.evidence...).Fact(h...).Fact(t...)
	for _, n := range []string{b.engine.NodeID, b.replica.NodeID} {
		if _, ok := p.Probed(n); !ok {
			f.NotConfirmed = append(f.NotConfirmed, "the network counters of node "+n)
		}
	}
	if pair < 2 {
		f.NotConfirmed = append(f.NotConfirmed, "a second volume that fails between the same two nodes")
	}
	f.Unless("a rebuild between the two nodes that ends, and counters that do not rise")
	f.Advise(
		remedy.Words("Repair the link between "+b.engine.NodeID+" and "+b.replica.NodeID+": cabling, tunnel or VPN, its MTU, the load of a weak CPU that encrypts. Look twice, a minute apart, at the drops of the interfaces and at the retransmitted segments while a rebuild runs."),
		remedy.Words("A larger engine-replica-timeout helps only for a while. Deleting the replica only begins the same rebuild anew; the volume goes on with the replicas that work."),
	)
	p.Report(f)
}

// sharing counts the volumes of the cluster whose connections break: between the same
// two nodes, and to the same replica node from elsewhere.
func sharing(p *diagnosis.Pass, b broken) (pair, near int) {
	for _, v := range p.Index.Volumes {
		if v.LH() == nil {
			continue
		}
		for _, o := range breaksOf(p, v) {
			switch {
			case o.replica.NodeID == b.replica.NodeID && o.engine.NodeID == b.engine.NodeID,
				o.replica.NodeID == b.engine.NodeID && o.engine.NodeID == b.replica.NodeID:
				pair++
			case o.replica.NodeID == b.replica.NodeID:
				near++
			default:
				continue
			}
			break
		}
	}
	return pair, near
}

func sharedWords(pair, near int, b broken) string {
	if pair+near < 2 {
		return "No other volume shows the same."
	}
	return fmt.Sprintf("Volumes that fail: %d between the same two nodes, %d between other nodes and %s.", pair, near, b.replica.NodeID)
}

// counterWords says what the nodes' own counters show.
func counterWords(p *diagnosis.Pass, b broken, here, there string) string {
	out := ""
	for _, n := range []struct{ name, said string }{{b.engine.NodeID, here}, {b.replica.NodeID, there}} {
		if n.said != "" {
			out += fmt.Sprintf(" On %s since boot: %s.", n.name, n.said)
		}
		if cpu := cpuPressure(p.View(n.name)); cpu != "" {
			out += fmt.Sprintf(" On %s processes wait for the CPU (%s), which can be the reason.", n.name, cpu)
		}
	}
	if b.hosts >= 2 {
		out += fmt.Sprintf(" The engine's own log has broken connections to %d replicas.", b.hosts)
	}
	a, z := mtus(p.View(b.engine.NodeID)), mtus(p.View(b.replica.NodeID))
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if other, ok := z[name]; ok && other != a[name] {
			out += fmt.Sprintf(" The MTU of %s is %s on %s and %s on %s.", name, a[name], b.engine.NodeID, other, b.replica.NodeID)
		}
	}
	return out
}
