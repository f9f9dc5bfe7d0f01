package longhorn

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
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
		kind, lacks := lh.Lacks(v)
		if lacks.No() || kind == lh.Standby && lh.WantedFor(pl.X, pl.Volume) == 0 {
			return nil // a standby that nobody wants is as it should be
		}
		return []*diagnosis.Proof{restorePending(pl, v, kind, lacks)}
	},
}

func restorePending(pl *evidence.Place, v *snapshot.LHVolume, kind string, lacks evidence.Answer) *diagnosis.Proof {
	e := pl.X.EngineActive(pl.Volume)
	done := lh.ProgressOf(e)
	at, near := lh.Ends(pl.X, kind, v, e)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: kind,
		State:   []evidence.Answer{lacks},
		Last:    []evidence.Answer{lh.Unfilled(pl.X, kind, e)},
		Waiting: kind != lh.Standby && near && done.Failure == "",
		With:    words.Fields{"volume": v.Name, "state": lh.OrNone(lh.Condition(v)), "clone": v.Status.CloneState, "progress": done.Words(), "until": "", "slow": "", "failure": done.Failure, "held": ""},
	}
	switch {
	case !at.IsZero() && near:
		p.With["until"] = at.UTC().Format(time.RFC3339)
	case !at.IsZero():
		p.With["slow"] = at.UTC().Format(time.RFC3339)
	}
	p.Steps = []remedy.Step{fill(v, e, kind, p)}
	if held := lh.FailedReplicas(pl.Volume); kind == lh.Activation && len(held) > 0 {
		p.With["held"] = held[0].Name
		p.Steps = append(p.Steps, remedy.DeleteReplica(pl.Volume, held[0]))
	}
	return p
}

// fill says what to do until the data are there.
func fill(v *snapshot.LHVolume, e *snapshot.LHEngine, kind string, p *diagnosis.Proof) remedy.Step {
	var look []remedy.Command
	if e != nil {
		look = []remedy.Command{remedy.Kubectl("-n", v.Namespace, "get", "engines.longhorn.io", e.Name, "-o", "jsonpath={.status.restoreStatus}{.status.cloneStatus}")}
	}
	switch {
	case p.With["failure"] != "" || v.Status.CloneState == "failed":
		return remedy.Check("Read the message of the failure first: usually the backup target (address, credentials, a deleted backup) or the source of the clone. Restore or clone again into a new volume when it cannot go on.", look...)
	case kind == lh.Standby:
		return remedy.Words("Activate the disaster recovery volume in Longhorn when the original must be replaced, and wait until its last backup has been restored; a standby gets no PV and no pod before.")
	case p.Waiting:
		return remedy.Check("Wait until it has ended; the volume attaches by itself. Look at the progress twice, ten minutes apart. Do not force its frontend on.", look...)
	case kind == lh.Clone:
		return remedy.Check("No replica is at it. Look whether the source of the clone can be attached, and at the last words of the longhorn-manager that owns the new volume. When it does not go on, delete the new claim, not the source, and clone again.", look...)
	case kind == lh.Activation:
		return remedy.Check("The activation ends when the last backup is restored on every replica of the record: a failed replica that is still attached to it holds it up. Look at failedAt of the replicas and at the backup target.", look...)
	}
	return remedy.Check("Look at the progress twice, ten minutes apart, and at what the backup store and the way to it can carry. Do not force the frontend on.", look...)
}
