package longhorn

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Restores asks whether a volume still lacks data of a backup: a restore, or a standby
// that follows one.
func Restores(v *snapshot.LHVolume) evidence.Answer {
	object := "Volume " + v.Name
	switch {
	case v.Status.RestoreRequired:
		return evidence.Yes(evidence.FromAPI(object, "status.restoreRequired", "true"))
	case v.Status.IsStandby:
		return evidence.Yes(evidence.FromAPI(object, "status.isStandby", "true"))
	}
	return evidence.No()
}

// RestoreError asks for what a replica says of its failed restore.
func RestoreError(e *snapshot.LHEngine) (text string, a evidence.Answer) {
	for _, r := range e.Restores {
		if t := r.Error; t != "" {
			return t, evidence.Yes(evidence.FromAPI("Engine "+e.Name, "status.restoreStatus["+r.Address+"].error", t))
		}
	}
	return "", evidence.No()
}

// AllFailed asks whether Longhorn gave the restore up.
func AllFailed(v *snapshot.LHVolume) evidence.Answer {
	c, _ := v.Status.Conditions.Get("Restore")
	return evidence.When(c.Status == "False" && c.Reason == "RestoreFailure",
		evidence.FromAPI("Volume "+v.Name, "status.conditions[Restore]", strings.TrimSpace(c.Reason+" "+c.Message)))
}

// BackupOf is the name of the backup that a volume is made from, or empty.
func BackupOf(v *snapshot.LHVolume) string {
	u, err := url.Parse(v.FromBackup)
	if err != nil {
		return ""
	}
	return u.Query().Get("backup")
}

// SourceGone asks whether the backup target answers no more (mute: a restore that is at it gets nothing, either), or
// answers and does not have the backup. That there is no Backup object counts only beside the target's own object.
func SourceGone(x *snapshot.Index, v *snapshot.LHVolume) (what string, mute bool, a evidence.Answer) {
	name := v.BackupTarget
	name = cmp.Or(name, "default")
	l, backup := &x.Cluster.Longhorn, BackupOf(v)
	i := slices.IndexFunc(l.BackupTargets, func(t *snapshot.LHBackupTarget) bool { return t.Name == name })
	if i < 0 {
		return "", false, evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/backuptargets", Why: "BackupTarget " + name + " was not read"})
	}
	if l.BackupTargets[i].Unavailable {
		return "the backup target " + name + " is not available", true, evidence.Yes(evidence.FromAPI("BackupTarget "+name, "status.available", "false"))
	}
	if backup == "" || slices.ContainsFunc(l.Backups, func(b *snapshot.LHBackup) bool { return b.Name == backup }) {
		return "", false, evidence.No()
	}
	return "backup " + backup + " does not exist any more", false, Read(x, "backups").Nothing(
		evidence.FromAPI("Volume "+v.Name, "spec.fromBackup", v.FromBackup), evidence.FromAPI("Backup "+backup, "metadata", "does not exist"))
}

// NotBegun asks whether an engine was told to restore a backup five minutes ago or
// earlier, and no replica is at it.
func NotBegun(x *snapshot.Index, v *snapshot.LHVolume, e *snapshot.LHEngine) evidence.Answer {
	if e.CurrentState != "running" || e.WantedRestore == "" || e.WantedRestore == e.LastRestore || busy(e) {
		return evidence.No()
	}
	if c, ok := v.Status.Conditions.Get("Restore"); ok && !c.LastTransition.IsZero() && x.Age(c.LastTransition) < 5*time.Minute {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("Engine "+e.Name, "spec.requestedBackupRestore", e.WantedRestore),
		evidence.FromAPI("Engine "+e.Name, "status.restoreStatus", "no replica is restoring"))
}

func busy(e *snapshot.LHEngine) bool {
	return slices.ContainsFunc(e.Restores, func(r snapshot.LHFilling) bool { return r.Running })
}

// RestoreLimit asks whether the setting lets no further restore begin on the engine's
// node; queued: others are at it, and this one waits for its turn.
func RestoreLimit(x *snapshot.Index, e *snapshot.LHEngine) (queued []string, a evidence.Answer) {
	const name = "concurrent-volume-backup-restore-per-node-limit"
	value, set := x.Setting(name)
	limit, err := strconv.Atoi(strings.TrimSpace(value))
	if !set || err != nil {
		limit = 5 // Longhorn's default
	}
	if set && err == nil && limit == 0 {
		return nil, evidence.Yes(evidence.FromAPI("Setting "+name, "value", "0"))
	}
	var facts []report.Evidence
	for _, o := range x.Cluster.Longhorn.Engines {
		if o.NodeID == e.NodeID && busy(o) {
			queued = append(queued, o.VolumeName)
			facts = append(facts, evidence.FromAPI("Engine "+o.Name, "status.restoreStatus", "restoring on "+o.NodeID))
		}
	}
	slices.Sort(queued)
	return queued, evidence.All(evidence.When(len(queued) >= limit, facts...), evidence.Any(evidence.When(set), Read(x, "settings").Nothing()))
}

// Locked asks for a fresh text that another operation holds the lock of the backup.
func Locked(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return strings.Contains(t.Raw, "restore") && (strings.Contains(t.Raw, "failed lock") || strings.Contains(t.Raw, "failed to acquire lock"))
	})
}

// recent is how old a backup may be that is made for one step: it was taken for it,
// and not by a schedule at some time.
const recent = time.Hour

// LastBackup is the newest backup of a volume that its object shows, and when it was
// made; zero: nobody says when.
func LastBackup(v *snapshot.Volume) (name string, at time.Time) {
	lh := v.LH()
	if lh == nil {
		return "", time.Time{}
	}
	at, _ = time.Parse(time.RFC3339, lh.Status.LastBackupAt)
	return lh.Status.LastBackup, at
}

// BackedUp asks whether a backup of the volume was made just now. An older one, of any
// age, does not hold what was written since, and is no reason to risk the rest.
func BackedUp(x *snapshot.Index, v *snapshot.Volume) evidence.Answer {
	name, at := LastBackup(v)
	object, need := "the volume", "a backup of the volume" // of another driver: no object tells
	if lh := v.LH(); lh != nil {
		object, need = "volumes.longhorn.io "+lh.Name, "api/longhorn.io/volumes"
	}
	switch {
	case name == "":
		return evidence.Unseen(evidence.Lack{Need: need, Why: "no backup of " + object + " is known"})
	case at.IsZero():
		return evidence.Unseen(evidence.Lack{Need: need, Why: "backup " + name + " has no date"})
	case x.Age(at) > recent:
		return evidence.No(evidence.FromAPI(object, "status.lastBackupAt", at.UTC().Format(time.RFC3339)+", "+evidence.Duration(x.Age(at))+" old"))
	}
	return evidence.Yes(evidence.FromAPI(object, "status.lastBackupAt", at.UTC().Format(time.RFC3339)+", "+evidence.Duration(x.Age(at))+" old"))
}
