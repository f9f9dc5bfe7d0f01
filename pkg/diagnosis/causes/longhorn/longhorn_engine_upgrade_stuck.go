package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// EngineUpgradeStuck finds a live upgrade of an engine that does not end.
var EngineUpgradeStuck = &diagnosis.Rule{
	Name: "longhorn-engine-upgrade-stuck", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Replicating},
	YieldsTo: []string{"longhorn-engine-image-not-ready"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v, e := pl.Volume.LH(), pl.X.EngineActive(pl.Volume)
		if v == nil || e == nil || lh.IsV2(v) || lh.Migrates(v) {
			return nil
		}
		u := lh.UpgradeOf(pl, v, e)
		if len(u.Facts) == 0 {
			return nil
		}
		return []*diagnosis.Proof{upgradeStuck(pl, v, e, u)}
	},
}

func upgradeStuck(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine, u lh.Upgrade) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Severity: report.Degraded,
		Breaks: []diagnosis.Step{diagnosis.Replicating},
		With:   words.Fields{"volume": v.Name, "engine": e.Name},
		Steps: []remedy.Step{
			remedy.Check("See what is left of the upgrade.",
				remedy.Kubectl("-n", v.Namespace, "get", "engines.longhorn.io", e.Name, "-o", "jsonpath={.spec.upgradedReplicaAddressMap}{.status.currentImage}{.status.endpoint}")),
		},
	}
	blocks, many, twin := u.Blocks(e), u.TooMany(pl.Volume), u.TwinDown(v)
	cure := "Make the volume healthy, so that the upgrade goes on; or finish it offline: scale the workload to 0, and the detached volume takes the new image at once. Do not change spec.image back on an attached volume."
	switch {
	case blocks.Yes():
		p.Says, p.Severity, p.Breaks = "blind", report.Blocking, []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging} // staged is what has an endpoint
		p.State = []evidence.Answer{u.Lasts(pl.X), blocks, csi.Wanted(pl)}
		cure = "Scale the workload to 0 and let the volume detach: a stopped engine begins anew. When the map is there again, note spec.upgradedReplicaAddressMap of engine " + e.Name + ", empty that one field (it can be written back), and upgrade Longhorn: 1.4.4 and 1.5.2 clear it themselves."
	case many.Yes():
		p.Says, p.State = "many", []evidence.Answer{u.Lasts(pl.X), many}
		cure = "Set the number of replicas of the volume to the number of active ones; the upgrade then ends. Longhorn 1.8.3, 1.9.3 and 1.10.1 do not need it."
	case twin.Yes():
		p.Says, p.State = "twin", []evidence.Answer{u.Lasts(pl.X), twin}
	default:
		p.Says, p.State = "degraded", []evidence.Answer{u.Lasts(pl.X), lh.Degraded(v)}
	}
	p.Steps = append(p.Steps, remedy.Words(cure))
	return p
}
