package longhorn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Progress is how far the replicas of an engine have been filled: by a restore
// (status.restoreStatus) or a clone (status.cloneStatus).
type Progress struct {
	Known    bool
	Finished bool // every replica is at 100 % without an error
	Moving   bool // a replica says that it is at it
	Lowest   int64
	Failure  string
	Text     string
	Facts    []report.Evidence
}

// Words are the lowest number, and those of all replicas; empty: nobody says.
func (p Progress) Words() string {
	if !p.Known {
		return ""
	}
	return fmt.Sprintf("%d %% (%s)", p.Lowest, p.Text)
}

// progressOf sums up what an engine says of its replicas, by address. A replica that it
// dials and that has no entry has not begun.
func progressOf(e *snapshot.LHEngine) Progress {
	if e == nil || len(e.Restores)+len(e.Clones) == 0 {
		return Progress{}
	}
	out := Progress{Known: true, Finished: true, Lowest: 100}
	var all []string
	entry := map[string]bool{}
	for _, r := range slices.Concat(e.Restores, e.Clones) {
		entry[strings.TrimPrefix(r.Address, "tcp://")] = true
		done := r.Progress >= 100 || r.LastRestored != "" && !r.Running
		if r.Error != "" {
			out.Failure = r.Error
		}
		out.Finished = out.Finished && done && !r.Running && out.Failure == ""
		out.Moving = out.Moving || r.Running
		out.Lowest = min(out.Lowest, r.Progress)
		all = append(all, fmt.Sprintf("%s %d %%", r.Address, r.Progress))
	}
	for _, name := range slices.Sorted(maps.Keys(e.ReplicaAddressMap)) {
		if address := e.ReplicaAddressMap[name]; len(e.Clones) == 0 && !entry[strings.TrimPrefix(address, "tcp://")] && e.ReplicaModes[name] != "ERR" {
			out.Finished, out.Lowest = false, 0
			all = append(all, address+" not begun")
		}
	}
	out.Text = strings.Join(all, ", ")
	out.Facts = []report.Evidence{evidence.FromAPI("Engine "+e.Name, "status.restoreStatus / cloneStatus", out.Text)}
	return out
}

// Reads asks whether an engine still needs the backup: a replica of it has not got everything.
func Reads(e *snapshot.LHEngine) evidence.Answer {
	p := progressOf(e)
	return evidence.When(p.Known && !p.Finished, p.Facts...)
}

// The kinds of data that a volume can lack.
const (
	Standby    = "standby" // follows a volume of another cluster, and was not activated
	Activation = "activation"
	Restore    = "restore"
	Clone      = "clone"
)

// Filling is the data that a volume has not got yet, and the engine that gets them; a nil engine
// was not read.
type Filling struct {
	Kind     string
	Engine   *snapshot.LHEngine
	Progress Progress
	volume   *snapshot.LHVolume
}

// FillingOf asks whether a volume has not got its data yet, and of which kind these are.
func FillingOf(x *snapshot.Index, vol *snapshot.Volume) (f Filling, lacks evidence.Answer) {
	v := vol.LH()
	kind, facts := unfilled(v)
	lacks = evidence.Yes(facts...)
	if kind == Clone {
		lacks = evidence.All(lacks, keptForClone(x, vol))
	}
	if kind == "" || lacks.No() {
		return f, evidence.No()
	}
	e := x.EngineActive(vol)
	return Filling{kind, e, progressOf(e), v}, lacks
}

// keptForClone asks whether the state of a clone keeps pods away. While it is copied it does. Once the copy is
// there, the volume rests in that state until it is attached and rebuilt (longhorn 12341): then who wants it is
// kept away only where Longhorn made no ticket of the attachment, or holds the volume for the clone on
// another node (longhorn 12206, 13335). One that Kubernetes has attached keeps nobody away.
func keptForClone(x *snapshot.Index, vol *snapshot.Volume) evidence.Answer {
	if vol.LH().Status.CloneState == "initiated" {
		return evidence.Yes()
	}
	if slices.ContainsFunc(vol.Attachments, func(va *storagev1.VolumeAttachment) bool { return va.Status.Attached && va.DeletionTimestamp == nil }) {
		return evidence.No()
	}
	if vol.LH().Status.CloneState == "failed" {
		return evidence.Yes()
	}
	for _, va := range vol.Attachments {
		if va.DeletionTimestamp != nil {
			continue
		}
		if ticket := evidence.First(vol.Tickets(), func(t *snapshot.LHTicket) bool { return t.ID == va.Name }); ticket == nil {
			return Read(x, "volumeattachments").Nothing(evidence.FromAPI("VolumeAttachment.longhorn.io "+vol.LH().Name, "spec.attachmentTickets", "none "+va.Name))
		} else if on := vol.LH().Status.CurrentNodeID; on != "" && on != va.Spec.NodeName && !ticket.Satisfied {
			return evidence.Yes(evidence.FromAPI("Volume "+vol.LH().Name, "status.currentNodeID", on))
		}
	}
	return evidence.No()
}

// unfilled is the kind of the data that a volume lacks, with what says so.
func unfilled(v *snapshot.LHVolume) (kind string, facts []report.Evidence) {
	object := "Volume " + v.Name
	restore, _ := v.Status.Conditions.Get("Restore")
	if restore.Status == "True" {
		facts = append(facts, evidence.FromAPI(object, "status.conditions[Restore]", strings.TrimSpace("True "+restore.Reason+" "+restore.Message)))
	}
	switch state := v.Status.CloneState; {
	case v.Standby:
		return Standby, append(facts, standby(v))
	case v.Status.IsStandby:
		return Activation, append(facts, standby(v))
	case v.Status.RestoreRequired || len(facts) > 0:
		return Restore, append(facts, evidence.FromAPI(object, "status.restoreRequired", fmt.Sprint(v.Status.RestoreRequired)))
	case state == "initiated" || state == "copy-completed-awaiting-healthy" || state == "failed":
		return Clone, append(facts, evidence.FromAPI(object, "status.cloneStatus.state", state))
	}
	return "", nil
}

func standby(v *snapshot.LHVolume) report.Evidence {
	return evidence.FromAPI("Volume "+v.Name, "spec.Standby / status.isStandby", fmt.Sprintf("%t / %t", v.Standby, v.Status.IsStandby))
}

// Unfilled asks whether the data that a volume lacks are not there yet. An activation
// has ended when the field says so; until then a replica that failed can hold it up,
// although all others are at 100 %.
func (f Filling) Unfilled(x *snapshot.Index) evidence.Answer {
	switch {
	case f.Kind == Standby || f.Kind == Activation || f.Kind == Clone:
		return evidence.Yes(f.Progress.Facts...)
	case f.Progress.Known:
		return evidence.When(!f.Progress.Finished, f.Progress.Facts...)
	case f.Engine == nil:
		return evidence.Unseen(append(Read(x, "engines").Lacks(), evidence.Lack{Need: "api/longhorn.io/engines", Why: "its progress: no engine of the volume was read"})...)
	}
	return evidence.Yes(evidence.FromAPI("Engine "+f.Engine.Name, "status.restoreStatus", "no replica has begun"))
}

// beginning is how long a restore or a clone may show no progress.
const beginning = 30 * time.Minute

// bound is how long a restore may take before somebody should look at it.
const bound = 24 * time.Hour

// Ends extrapolates when a restore or clone will have ended: as fast as it went until
// now. near: it moves, and the end, as far as one can tell, is near. The start of an
// increment is not known: at is zero then.
func (f Filling) Ends(x *snapshot.Index) (at time.Time, near bool) {
	p, v := f.Progress, f.volume
	if f.Kind == Clone { // its end cannot be told; only that somebody is at it, or that it has just begun
		rebuilds := f.Engine != nil && slices.Contains(slices.Collect(maps.Values(f.Engine.ReplicaModes)), "WO")
		young := x.Age(v.CreationTimestamp.Time) < beginning
		return time.Time{}, v.Status.CloneState != "failed" && (p.Moving || rebuilds || young)
	}
	if f.Kind == Activation {
		return time.Time{}, p.Known && !p.Finished && (p.Lowest > 0 || p.Moving)
	}
	began := v.CreationTimestamp.Time
	if c, found := v.Status.Conditions.Get("Restore"); found && !c.LastTransition.IsZero() {
		began = c.LastTransition
	}
	if began.IsZero() {
		return time.Time{}, p.Lowest > 0 || p.Moving || !p.Known
	}
	age := x.Age(began)
	if p.Lowest <= 0 {
		return time.Time{}, age < beginning
	}
	left := time.Duration(float64(age) * float64(100-p.Lowest) / float64(p.Lowest))
	return x.TakenAt.Add(left), left < bound
}

// Failed tells whether a replica says that it failed, or Longhorn gave the clone up.
func (f Filling) Failed() bool {
	return f.Progress.Failure != "" || f.volume.Status.CloneState == "failed"
}

// OnlyTime tells whether nothing is left to do but to wait.
func (f Filling) OnlyTime(x *snapshot.Index) bool {
	_, near := f.Ends(x)
	return f.Kind != Standby && near && f.Progress.Failure == ""
}

// FailedReplicas are those that an activation still waits for.
func FailedReplicas(v *snapshot.Volume) []*snapshot.LHReplica {
	return evidence.Keep(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.FailedAt != "" })
}
