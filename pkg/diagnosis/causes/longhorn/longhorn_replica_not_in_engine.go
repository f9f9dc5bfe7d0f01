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

// ReplicaNotInEngine finds a replica that runs and that its engine was never told of.
var ReplicaNotInEngine = &diagnosis.Rule{
	Name: "longhorn-replica-not-in-engine", Layer: diagnosis.Longhorn, Severity: report.Degraded,
	Breaks:  []diagnosis.Step{diagnosis.Replicating},
	LeadsTo: []string{"longhorn-drain-blocked"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v, e := pl.Volume.LH(), pl.X.EngineActive(pl.Volume)
		if v == nil || e == nil || lh.Migrates(v) || len(e.UpgradedMap) > 0 || !lh.Degraded(v).Yes() {
			return nil
		}
		return evidence.Each(pl.Volume.Longhorn.Replicas, func(r *snapshot.LHReplica) *diagnosis.Proof { return replicaLoose(pl, v, e, r) })
	},
}

func replicaLoose(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine, r *snapshot.LHReplica) *diagnosis.Proof {
	loose := lh.Loose(pl.X, e, r)
	if loose.No() {
		return nil
	}
	sibling, blocked := lh.Sibling(pl.Volume)
	ghost, haunted := lh.Ghost(pl.X, pl.Volume, e)
	says, held := "sibling", blocked
	if blocked.No() {
		says, held = "ghost", haunted
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Replica", r.Namespace, r.Name), Says: says,
		With:  words.Fields{"replica": r.Name, "node": r.NodeID, "volume": v.Name, "engine": e.Name, "sibling": sibling, "ghost": ghost},
		State: []evidence.Answer{lh.Degraded(v), loose, held},
		LookAlikes: []diagnosis.LookAlike{
			{Cause: "a rebuild that is under way or waits", Is: lh.Rebuilds(pl.X, e)},
		},
		Steps: []remedy.Step{
			remedy.Check("Compare the replicas that the engine knows with those that there are.",
				remedy.Kubectl("-n", v.Namespace, "get", "engines.longhorn.io", "-l", "longhornvolume="+v.Name, "-o", `jsonpath={.items[*].spec.replicaAddressMap}{"\n"}{.items[*].status.replicaModeMap}`)),
			remedy.Words("Cure what keeps the other replica from running: its node, its disk or its instance-manager. Else detach and attach the volume once (scale the workload to 0 and up): the map is built anew then."),
		},
	}
	if lh.IsV2(v) || lh.Stale(pl.X, e.NodeID) {
		p.AtMost = report.Likely // the map is changed in another order there; or nobody changes it
	}
	return p
}
