package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// workOver is how long work must have been over before its ticket counts as left.
const workOver = 5 * time.Minute

// ofWork: tickets of controllers that work on the volume end by themselves; they are
// unneeded only when the objects have said for a while that the work is over.
func ofWork(pl *evidence.Place, t *snapshot.LHTicket) Ticket {
	over, why := workEnded(pl, t.Type)
	return Ticket{
		LHTicket: t, Unneeded: evidence.All(evidence.When(settled(pl.X, t, workOver)), over), Why: "its work is over: " + why, Refute: "work of that kind which is still going on",
		First: "Look in the log of the longhorn-manager that owns the volume for why its controller does not take the ticket back; restarting that pod makes it judge again.",
	}
}

// workEnded asks what shows that the work of a type of ticket is over.
func workEnded(pl *evidence.Place, kind string) (a evidence.Answer, why string) {
	v, e := pl.Volume.LH(), pl.X.EngineActive(pl.Volume)
	switch kind {
	case "volume-restore-controller":
		return evidence.When(!v.Status.RestoreRequired && !v.Standby), "the volume requires no restore"
	case "volume-expansion-controller":
		return evidence.When(e != nil && e.CurrentSize == v.Size && !e.Expanding && !v.Status.ExpansionRequired), "the engine has the wanted size"
	case "volume-clone-controller":
		return evidence.When(v.Status.CloneState == "completed"), "the clone is completed"
	case "volume-eviction-controller":
		replicas := pl.Volume.Longhorn.Replicas
		if len(replicas) == 0 || slices.ContainsFunc(replicas, func(r *snapshot.LHReplica) bool { return r.EvictionRequested }) {
			return evidence.No(), ""
		}
		return Read(pl.X, "replicas").Nothing(), "no replica is to be evicted"
	case "salvage-controller", "volume-rebuilding-controller":
		return evidence.When(allWritable(v, e)), "all replicas are there and in mode RW"
	}
	return evidence.No(), ""
}

// allWritable tells whether the engine has every wanted replica in mode RW.
func allWritable(v *snapshot.LHVolume, e *snapshot.LHEngine) bool {
	return e != nil && len(e.ReplicaModes) >= v.NumberOfReplicas && !slices.ContainsFunc(slices.Collect(maps.Values(e.ReplicaModes)), func(mode string) bool { return mode != "RW" })
}

// settled tells whether the ticket's own conditions have not changed for a while; without
// a date nobody knows.
func settled(x *snapshot.Index, t *snapshot.LHTicket, d time.Duration) bool {
	last := lastChange(t)
	return !last.IsZero() && x.Age(last) > d
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

// served is the object that a ticket serves, as far as it is there.
type served struct {
	kind, name, namespace, state, message string
	since                                 time.Time
	unseen                                bool // no object of the kind was read
}

// servedBy finds the Backup or Snapshot that a ticket serves: its id is the type of the
// ticket and the object's name, so of several names that fit it is the longest.
func servedBy(x *snapshot.Index, t *snapshot.LHTicket) served {
	l := &x.Cluster.Longhorn
	if t.Type == "snapshot-controller" {
		out := served{kind: "Snapshot", unseen: len(l.Snapshots) == 0}
		for _, s := range l.Snapshots {
			if out.fits(t.ID, s.Name) {
				out.name, out.namespace, out.message, out.since = s.Name, s.Namespace, s.Error, s.CreationTimestamp.Time
			}
		}
		return out
	}
	out := served{kind: "Backup", unseen: len(l.Backups) == 0}
	for _, b := range l.Backups {
		if out.fits(t.ID, b.Name) {
			out.name, out.namespace, out.state, out.message, out.since = b.Name, b.Namespace, b.State, b.Message, b.CreationTimestamp.Time
		}
	}
	return out
}

func (s *served) fits(id, name string) bool {
	return (id == name || strings.HasSuffix(id, "-"+name)) && len(name) > len(s.name)
}

// ofBackup: the Backup or Snapshot that the ticket serves is gone, failed or stuck.
func ofBackup(pl *evidence.Place, t *snapshot.LHTicket) Ticket {
	s := servedBy(pl.X, t)
	resource := strings.ToLower(s.kind) + "s"
	if s.name == "" {
		name := strings.TrimPrefix(t.ID, t.Type+"-")
		out := Ticket{LHTicket: t, Why: "the " + s.kind + " " + name + " that it serves does not exist any more", Refute: "a " + s.kind + " named " + name, Unneeded: Read(pl.X, resource).Nothing()}
		if since := lastChange(t); !since.IsZero() && pl.X.Age(since) < freshFor {
			out.Unneeded = evidence.No() // its work has just ended or begun
		}
		if s.unseen { // the list may not have been recorded
			out.Doubt = []evidence.Lack{{Need: "api/longhorn.io/" + resource, Why: "no " + s.kind + " at all was seen"}}
		}
		return out
	}
	stuck := strings.EqualFold(s.state, "Error") || strings.EqualFold(s.state, "Pending") && pl.X.Age(s.since) > freshFor || strings.Contains(s.message, "not found")
	return Ticket{
		LHTicket: t, Refute: "a " + s.kind + " that still makes progress",
		Unneeded: evidence.When(stuck, evidence.FromAPI(s.kind+" "+s.name, "status.state", strings.TrimSpace(s.state+" "+s.message))),
		Why:      fmt.Sprintf("the %s %s that it serves is %s (%s) and will never end", s.kind, s.name, OrNone(s.state), OrNone(s.message)),
		First:    fmt.Sprintf("Delete the stuck %s %s in namespace %s: while it exists the controller makes the ticket again.", s.kind, s.name, s.namespace),
	}
}
