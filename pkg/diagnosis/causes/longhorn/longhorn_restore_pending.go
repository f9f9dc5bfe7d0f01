package longhorn

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_restore_pending.md
var longhornRestorePendingDoc string

// RestorePending finds a volume that is being restored or cloned, or is a standby, so
// that no pod may use it yet.
var RestorePending = &diagnosis.Rule{
	Name: "longhorn-restore-pending", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engines")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "mount-failed", "claim-pending"},
	YieldsTo: []string{"longhorn-restore-stalled"},
	Offers:   []string{"delete-replica"},
	Doc:      longhornRestorePendingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || len(v.Waiting()) == 0 && !p.Suffers(v, "attach-failed", "mount-failed", "claim-pending") {
				continue // a standby or a restore that nobody waits for is as it should be
			}
			if pending := pendingData(v, lh); pending.what != "" {
				restorePending(p, v, lh, pending)
			}
		}
	},
}

var refusedForData = regexp.MustCompile(`is restoring data|pending restoring|requires restoration|cloning data but has not finished|PV for standby volume|frontend is disabled|is not ready for workloads: .*(restor|clon)`)

// pending says which data the volume still lacks, by which field.
type pending struct {
	what     string
	evidence []report.Evidence
	standby  bool
	failure  string
}

func pendingData(v *snapshot.Volume, lh *snapshot.LHVolume) pending {
	out := pending{}
	object := "Volume " + lh.Name
	restore, _ := lh.Status.Conditions.Get("Restore")
	switch {
	case lh.Standby || lh.Status.IsStandby:
		out.what, out.standby = "is a standby (disaster recovery) volume that has not been activated", true
		if !lh.Standby {
			out.what = "is a disaster recovery volume whose activation has not finished"
		}
		out.evidence = append(out.evidence, diagnosis.FromAPI(object, "spec.Standby / status.isStandby", fmt.Sprintf("%t / %t", lh.Standby, lh.Status.IsStandby)))
	case lh.Status.RestoreRequired || restore.Status == "True":
		out.what = "is being restored from a backup"
		out.evidence = append(out.evidence, diagnosis.FromAPI(object, "status.restoreRequired", fmt.Sprint(lh.Status.RestoreRequired)))
	case lh.Status.CloneState == "initiated" || lh.Status.CloneState == "copy-completed-awaiting-healthy" || lh.Status.CloneState == "failed":
		out.what = "is being cloned from another volume (" + lh.Status.CloneState + ")"
		out.evidence = append(out.evidence, diagnosis.FromAPI(object, "status.cloneStatus.state", lh.Status.CloneState))
		if lh.Status.CloneState == "failed" {
			out.failure = "the clone failed"
		}
	default:
		return out
	}
	if restore.Status != "" && (restore.Status == "True" || restore.Reason == "RestoreFailure") {
		out.evidence = append(out.evidence, diagnosis.FromAPI(object, "status.conditions[Restore]", strings.TrimSpace(restore.Status+" "+restore.Reason+" "+restore.Message)))
	}
	if restore.Reason == "RestoreFailure" {
		out.failure = strings.TrimSpace("RestoreFailure " + restore.Message)
	}
	return out
}

func restorePending(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, pd pending) {
	e := p.EngineActive(v)
	done := progressOf(e)
	if done.finished && !pd.standby {
		return // finished but flagged: longhorn-volume-status-leftover
	}
	if pd.failure == "" {
		pd.failure = done.failure
	}
	text, _ := said(p, v, refusedForData)
	c := report.Certain
	if text.Text == "" && !done.known && pd.failure == "" {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)).On(v)
	f.Waiting = !pd.standby && pd.failure == ""
	words := "No pod can use it before that has ended."
	switch {
	case pd.standby && !lh.Standby:
		words = "No pod can use it before the activation ends."
	case pd.standby:
		words = "No pod can use it before it is activated and its last backup is restored."
	}
	if done.known {
		words += fmt.Sprintf(" Progress: %d %% (%s).", done.lowest, done.text)
		f.Fact(diagnosis.FromAPI("Engine "+e.Name, "status.restoreStatus / cloneStatus", done.text))
	}
	if pd.failure != "" {
		words += " It does not go on: " + pd.failure + "."
	}
	f.Sayf("Longhorn volume %s %s; its state is %s. %s", lh.Name, pd.what, none(describe(lh)), words)
	f.Fact(pd.evidence...).Fact(text)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "a refusal that names the restore, or its progress in the engine")
	}
	f.Unless("the field empty, or a progress of 100 % without an error")
	adviseRestore(f, v, lh, pd)
	p.Report(f)
}

func adviseRestore(f *diagnosis.Finding, v *snapshot.Volume, lh *snapshot.LHVolume, pd pending) {
	switch {
	case pd.failure != "":
		f.Advise(remedy.Words("Read the message of the failure first: usually the backup target (address, credentials, a deleted backup) or the source of the clone. Restore or clone again into a new volume when it cannot go on."))
	case pd.standby && lh.Standby:
		f.Advise(remedy.Words("Activate the disaster recovery volume in Longhorn when the original must be replaced, and wait until its last backup has been restored; a standby gets no PV and no pod before."))
	case pd.standby:
		f.Advise(remedy.Words("The activation ends when the last backup is restored on every replica of the record: a failed replica that is still attached to it holds it up. Look at failedAt of the replicas and at the backup target."))
	default:
		f.Advise(remedy.Words("Wait until the restore or clone has ended; the volume attaches by itself. Do not force its frontend on."))
	}
	if !pd.standby || lh.Standby {
		return
	}
	// An activation hangs while a failed replica is still attached to the record.
	for _, r := range v.Longhorn.Replicas {
		if r.FailedAt != "" {
			f.Advise(remedy.DeleteReplica(v, r))
			return
		}
	}
}
