package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DrainBlocked finds a cordoned node whose instance-manager Longhorn protects.
var DrainBlocked = &diagnosis.Rule{
	Name: "longhorn-drain-blocked", Layer: diagnosis.Longhorn, Severity: report.Degraded,
	Breaks:   []diagnosis.Step{diagnosis.Draining},
	YieldsTo: []string{"longhorn-attachment-ticket-leftover", "longhorn-engine-orphaned"},
	Asks:     diagnosis.EachSweptNode,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		cordoned := lh.Cordoned(pl.X, pl.Node)
		if !cordoned.Yes() {
			return nil
		}
		return evidence.Each(pl.X.InstanceManagersOn(pl.Node), func(im *snapshot.LHInstanceManager) *diagnosis.Proof { return drainBlocked(pl, im, cordoned) })
	},
}

func drainBlocked(pl *evidence.Place, im *snapshot.LHInstanceManager, cordoned evidence.Answer) *diagnosis.Proof {
	policy := lh.DrainPolicy(pl.X)
	volumes, attached := lh.EnginesOn(pl.X, im)
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(pl.Node), State: []evidence.Answer{evidence.All(cordoned, lh.Budget(pl.X, im))},
		With: words.Fields{"node": pl.Node, "im": im.Name, "volumes": words.List(volumes, 3), "policy": policy, "replicas": "", "other": "", "why": ""},
		Steps: []remedy.Step{remedy.Check("See the budgets, and which copies are where.",
			remedy.Kubectl("-n", im.Namespace, "get", "pdb"),
			remedy.Kubectl("-n", im.Namespace, "get", "replicas.longhorn.io", "-o", "custom-columns=R:.metadata.name,V:.spec.volumeName,N:.spec.nodeID,H:.spec.healthyAt,F:.spec.failedAt"))},
	}
	for _, name := range volumes {
		p.Volume(pl.X.VolumeOfLonghorn(name))
	}
	cure, last := "", lh.LastCopies(pl.X, pl.Node, policy)
	switch evict := lh.Evictable(pl.X, pl.Node); {
	case attached.Yes():
		p.Says, p.State = "attached", append(p.State, attached)
		p.LookAlikes = []diagnosis.LookAlike{{Cause: "longhorn-engine-orphaned", Is: lh.Orphans(pl.X, im)}}
		cure = "Let the pods that use these volumes go first: evict them or scale them down; where a budget of theirs allows no disruption, cure the member that is not ready. The instance-manager goes last by design."
	case policy == "always-allow":
		p.Says, p.AtMost = "stale", report.Likely
	case policy == "block-for-eviction" && len(evict) > 0:
		p.Says, p.With["replicas"] = "evict", words.List(evict, 3)
		p.State = append(p.State, lh.Read(pl.X, "replicas").And(lh.Read(pl.X, "instancemanagers")).Nothing())
		cure = "Let Longhorn move these replicas: other nodes need space and a disk that takes them; a detached volume is only rebuilt while it is attached."
	case len(last) > 0:
		names, other, why := last.Words()
		p.Says, p.With["replicas"], p.With["other"], p.With["why"] = "last", words.List(names, 3), other, why
		p.State = append(p.State, lh.Read(pl.X, "replicas", "instancemanagers").And(evidence.Resource(pl.X, "/nodes")).Nothing(
			evidence.FromAPI("Replica "+last[0].Replica.Name, "spec.nodeID", pl.Node)))
		p.Last = []evidence.Answer{lh.Read(pl.X, "settings").Nothing()}
		cure = "Give the volume a second healthy replica that Longhorn can reach: uncordon or repair the other node, or attach the volume so that it is rebuilt elsewhere. The policy block-for-eviction-if-contains-last-replica lets Longhorn move it by itself. A record of a node that is gone for good is removed in Longhorn's UI, once another healthy copy exists."
	default:
		p.Says, p.AtMost = "stale", report.Likely
	}
	if lh.Stale(pl.X, pl.Node) {
		p.AtMost = report.Likely
	}
	if cure == "" {
		cure = "None of Longhorn's own reasons holds: restart the longhorn-manager pod of node " + pl.Node + ", which should have taken the budget away."
	}
	p.Steps = append(p.Steps, remedy.Words(cure), remedy.Words("The policy always-allow, or taking the budget away, loses the volume if this node does not come back: only with a backup, and never as a habit."))
	p.Object("im", im.Name)
	return p
}
