package device

import (
	"cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/local"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// LocalPoolInactive finds a volume whose pool or logical volume is not there on its node.
var LocalPoolInactive = &diagnosis.Rule{
	Name: "local-pool-inactive", Layer: diagnosis.Device, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Provisioning},
	LeadsTo:  []string{"local-disk-not-mounted", "provisioning-failed"},
	YieldsTo: []string{"kernel-module-missing", "topology-conflict", "multipath-claims-device"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Node == "" {
			return poolToCut(pl)
		}
		pool, ok := local.PoolOf(pl)
		if !ok {
			return []*diagnosis.Proof{{State: []evidence.Answer{local.Fails(pl), local.Unnamed(pl)}}}
		}
		but, absent := pool.Absent(pl)
		why, probed := pool.WhyOf(pl), evidence.Yes()
		if pl.View == nil {
			absent, probed = pool.Unlisted(pl), evidence.Unseen(pl.Probed().Lacks()...)
		}
		if keyless, imported := pool.Keyless(pl); keyless.Yes() {
			why.Says, absent, probed = "key", keyless, imported
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(pl.Node), Says: pool.Kind + "-" + why.Says,
			With:  words.Fields{"node": pl.Node, "pool": pool.Name, "volume": pl.Volume.PVName()},
			State: []evidence.Answer{local.Fails(pl), pool.Named, absent.With(why.Fact), local.MadeHere(pl)},
			Last:  []evidence.Answer{probed},
		}
		if but != "" {
			p.Says, p.AtMost = but, report.Likely // it may be inactive or deleted; the disk may be another group's
		}
		if pv := pl.Volume.PV; pool.Told && pv != nil && pv.Spec.Local != nil { // whose pool that is, nothing of the directory says
			p.AtMost = report.Likely
		}
		p.Steps = remedy.PoolBack(pl.Node, pool, cmp.Or(but, why.Says))
		return []*diagnosis.Proof{p}
	},
}

// poolToCut is of a claim whose volume shall be cut from a pool that its node does not have.
func poolToCut(pl *evidence.Place) []*diagnosis.Proof {
	pool, at, ok := local.PoolFor(pl)
	if !ok {
		return nil
	}
	p := &diagnosis.Proof{
		Subject: diagnosis.NodeSubject(at.Node), Says: "making", AtMost: report.Likely,
		With:  words.Fields{"node": at.Node, "pool": pool.Name, "volume": pl.Volume.Called()},
		State: []evidence.Answer{provision.Pending(pl), pool.Named, pool.NotThere(at)},
		Steps: remedy.PoolBack(at.Node, pool, ""),
	}
	p.Users(pl.Volume.Waiting()...)
	return []*diagnosis.Proof{p}
}
