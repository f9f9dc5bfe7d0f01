package longhorn

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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
