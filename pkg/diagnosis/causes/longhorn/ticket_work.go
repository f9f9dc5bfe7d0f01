package longhorn

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// workOver is how long work must have been over before its ticket counts as left.
const workOver = 5 * time.Minute

// judgeWork: tickets of controllers that work on the volume end by themselves; they
// are unneeded only when the objects have said for a while that the work is over.
func judgeWork(p *diagnosis.Pass, v *snapshot.Volume, t *snapshot.LHTicket) verdict {
	over, why := workEnded(p, v, t.Type)
	if !over || !settledSince(p, t, workOver) {
		return verdict{}
	}
	return verdict{unneeded: true, why: "its work is over: " + why, refute: "work of that kind which is still going on",
		first: "Look in the log of the longhorn-manager that owns the volume for why its controller does not take the ticket back; restarting that pod makes it judge again."}
}

// workEnded tells what shows that the work of a type of ticket is over.
func workEnded(p *diagnosis.Pass, v *snapshot.Volume, kind string) (bool, string) {
	lh, e := v.Longhorn.Volume, p.EngineActive(v)
	switch kind {
	case "volume-restore-controller":
		return !lh.Status.RestoreRequired && !lh.Standby, "the volume requires no restore"
	case "volume-expansion-controller":
		return e != nil && e.CurrentSize == lh.Size && !e.Expanding && !lh.Status.ExpansionRequired, "the engine has the wanted size"
	case "volume-clone-controller":
		return lh.Status.CloneState == "completed", "the clone is completed"
	case "volume-eviction-controller":
		for _, r := range v.Longhorn.Replicas {
			if r.EvictionRequested {
				return false, ""
			}
		}
		return len(v.Longhorn.Replicas) > 0, "no replica is to be evicted"
	case "salvage-controller", "volume-rebuilding-controller":
		return allWritable(v, e), "all replicas are there and in mode RW"
	}
	return false, ""
}

// allWritable tells whether the engine has every wanted replica in mode RW.
func allWritable(v *snapshot.Volume, e *snapshot.LHEngine) bool {
	if e == nil || len(e.ReplicaModes) < v.Longhorn.Volume.NumberOfReplicas {
		return false
	}
	for _, mode := range e.ReplicaModes {
		if mode != "RW" {
			return false
		}
	}
	return true
}

// settledSince tells whether the ticket's own conditions have not changed for a while;
// without a date nobody knows.
func settledSince(p *diagnosis.Pass, t *snapshot.LHTicket, d time.Duration) bool {
	last := lastChange(t)
	return !last.IsZero() && p.Age(last) > d
}

// lastChange is when a condition of the ticket changed last, zero when that is not dated.
func lastChange(t *snapshot.LHTicket) time.Time {
	var last time.Time
	for _, c := range t.Conditions {
		if c.LastTransition.After(last) {
			last = c.LastTransition
		}
	}
	return last
}
