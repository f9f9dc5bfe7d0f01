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

// EngineRecordStale finds an engine that is never started because its instance-manager
// still keeps the record of an ended process under its name.
var EngineRecordStale = &diagnosis.Rule{
	Name: "longhorn-engine-record-stale", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Serving},
	LeadsTo:  []string{"longhorn-share-manager-down"},
	YieldsTo: []string{"longhorn-engine-upgrade-stuck", "longhorn-v2-engine-stuck", "longhorn-instance-manager-stuck"},
	Offers:   []string{"delete-instance-manager"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Volume.LH() == nil {
			return nil
		}
		return evidence.Each(pl.Volume.Longhorn.Engines, func(e *snapshot.LHEngine) *diagnosis.Proof { return recordStale(pl, e) })
	},
}

func recordStale(pl *evidence.Place, e *snapshot.LHEngine) *diagnosis.Proof {
	im, state, forgotten := lh.Forgotten(pl.X, e)
	p := &diagnosis.Proof{
		Subject:    diagnosis.ObjectSubject("Engine", e.Namespace, e.Name),
		With:       words.Fields{"engine": e.Name, "node": e.NodeID, "state": state, "is": e.CurrentState, "im": "", "since": evidence.Duration(lh.WantedFor(pl.X, pl.Volume))},
		State:      []evidence.Answer{forgotten, lh.Attaching(pl.X, pl.Volume)},
		LookAlikes: []diagnosis.LookAlike{{Cause: "an engine that is started and fails again and again", Is: lh.Tried(pl.X, "Engine", e.Namespace, e.Name, e.Conditions)}},
	}
	p.At(e.NodeID)
	if im == nil {
		return p
	}
	p.With["im"] = im.Name
	p.Object("im", im.Name)
	p.Steps = []remedy.Step{remedy.Words("Remove only the ended process record of " + e.Name + " inside the instance-manager pod " + im.Name +
		" (its own command line can delete one process by name), or upgrade Longhorn. Verify: the record is gone, the engine starts, the volume attaches.")}
	if lh.Others(im, e.Name) > 0 {
		p.Steps = append(p.Steps, remedy.Words("Leave the instance-manager itself alone: it runs other engines and replicas, which would end with it."))
		return p
	}
	p.Steps = append(p.Steps, remedy.DeleteInstanceManager(im, e.Name))
	return p
}
