package longhorn

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// RestorePending finds a volume that is being restored or cloned, or is a standby, so
// that no pod may use it yet.
var RestorePending = &diagnosis.Rule{
	Name: "longhorn-restore-pending", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Provisioning, diagnosis.Publishing},
	YieldsTo: []string{"longhorn-restore-stalled"},
	Offers:   []string{"delete-replica"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil {
			return nil
		}
		f, lacks := lh.FillingOf(pl.X, pl.Volume)
		if lacks.No() || f.Kind == lh.Standby && lh.WantedFor(pl.X, pl.Volume) == 0 {
			return nil // a standby that nobody wants is as it should be
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: f.Kind, Waiting: f.OnlyTime(pl.X),
			State: []evidence.Answer{lacks},
			Last:  []evidence.Answer{f.Unfilled(pl.X)},
			With: words.Fields{"volume": v.Name, "state": lh.OrNone(lh.Condition(v)), "clone": v.Status.CloneState, "progress": f.Progress.Words(),
				"until": "", "slow": "", "failure": f.Progress.Failure, "held": ""},
			Steps: remedy.Fill(pl.X, v, f),
		}
		switch at, near := f.Ends(pl.X); {
		case at.IsZero():
		case near:
			p.With["until"] = at.UTC().Format(time.RFC3339)
		default:
			p.With["slow"] = at.UTC().Format(time.RFC3339)
		}
		if held := lh.FailedReplicas(pl.Volume); f.Kind == lh.Activation && len(held) > 0 {
			p.With["held"] = held[0].Name
			p.Steps = append(p.Steps, remedy.DeleteReplica(pl.Volume, held[0]))
		}
		return []*diagnosis.Proof{p}
	},
}
