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

// RestoreStalled finds a restore that does not go on.
var RestoreStalled = &diagnosis.Rule{
	Name: "longhorn-restore-stalled", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Provisioning, diagnosis.Publishing},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v, e := pl.Volume.LH(), pl.X.EngineActive(pl.Volume)
		engines := lh.Read(pl.X, "engines")
		if v == nil || lh.Restores(v).No() && lh.AllFailed(v).No() || e == nil && engines.Complete() {
			return nil
		}
		if e == nil { // whether it is past the point where it needs its source was not read
			e = &snapshot.LHEngine{}
		}
		if p := restoreStalled(pl, v, e); p != nil {
			p.Last = []evidence.Answer{engines.Nothing()}
			return []*diagnosis.Proof{p}
		}
		return []*diagnosis.Proof{diagnosis.Rest(engines)}
	},
}

func restoreStalled(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine) *diagnosis.Proof {
	restores, idle := lh.Restores(v), lh.NotBegun(pl.X, v, e)
	said, failed := lh.RestoreError(e)
	what, mute, gone := lh.SourceGone(pl.X, v)
	queued, limited := lh.RestoreLimit(pl.X, e)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name),
		With:    words.Fields{"volume": v.Name, "backup": lh.BackupOf(v), "error": said, "what": what, "node": e.NodeID, "queued": words.List(queued, 3)},
		Steps: []remedy.Step{remedy.Check("See the backup target, the backups, and what the replicas say of the restore.",
			remedy.Kubectl("-n", v.Namespace, "get", "backuptargets.longhorn.io,backups.longhorn.io"),
			remedy.Kubectl("-n", v.Namespace, "get", "engines.longhorn.io", "-l", "longhornvolume="+v.Name, "-o", "jsonpath={.items[*].status.restoreStatus}"))},
	}
	cure := ""
	switch all := lh.AllFailed(v); {
	case all.Yes():
		p.Says, p.State = "failed", []evidence.Answer{all.With(failed.Facts()...)}
		cure = "Restore the backup again into a new volume, after curing what the replicas say; the failed one is taken away only after making sure that it is the copy. There is nothing to salvage in it."
	case failed.Yes():
		p.Says, p.State = "error", []evidence.Answer{restores, failed}
		cure = "Cure what the text says: credentials, network or space. Longhorn tries again."
	case gone.Yes() && (idle.Yes() || e.CurrentState != "running"):
		p.Says, p.State = "source", []evidence.Answer{restores, gone.With(idle.Facts()...).With(lh.Reads(e).Facts()...)}
		cure = "Make the backup target available again. When the backup itself is gone, restore another one into a new volume."
	case gone.Yes() && mute && lh.Reads(e).Yes(): // what a manager saw of the target a while ago
		p.Says, p.State, p.AtMost = "mute", []evidence.Answer{restores, gone, lh.Reads(e)}, report.Likely
		cure = "Make the backup target available again; the replicas go on, or say what they lack."
	case idle.Yes() && limited.Yes() && len(queued) > 0:
		p.Says, p.State, p.Waiting = "queued", []evidence.Answer{restores, idle, limited}, true
		cure = "Wait until one of the others has ended, or raise the setting concurrent-volume-backup-restore-per-node-limit."
	case idle.Yes() && limited.Yes():
		p.Says, p.State = "disabled", []evidence.Answer{restores, idle, limited}
		cure = "Raise the setting concurrent-volume-backup-restore-per-node-limit above 0."
	case lh.Locked(pl).Yes():
		p.Says, p.State, p.AtMost = "locked", []evidence.Answer{restores, idle, lh.Locked(pl)}, report.Likely
		cure = "Wait until the other operation on the backup has ended."
	case idle.Yes() && gone.Unseen():
		p.Says, p.State = "source", []evidence.Answer{restores, gone}
	default:
		return nil
	}
	if v.Status.IsStandby {
		cure += " The size of the source volume must not have been reduced."
	}
	p.Steps = append(p.Steps, remedy.Words(cure), remedy.Words("Do not force the frontend on, and do not salvage a restore."))
	return p
}
