package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// migrationTakes is how long a live migration may wait for its confirmation.
const migrationTakes = 15 * time.Minute

// Migration is a volume that virtual machines migrate, with the csi tickets that want it.
type Migration struct {
	Tickets []*snapshot.LHTicket
	pl      *evidence.Place
	v       *snapshot.LHVolume
}

// MigrationOf is that of the place's volume, when it is a migratable one.
func MigrationOf(pl *evidence.Place) (Migration, bool) {
	m := Migration{pl: pl, v: pl.Volume.LH()}
	if m.v == nil || !m.v.Migratable {
		return m, false
	}
	m.Tickets = evidence.Keep(pl.Volume.Tickets(), func(t *snapshot.LHTicket) bool { return t.Type == "csi-attacher" })
	return m, true
}

// Nodes are those between which the volume moves.
func (m Migration) Nodes() []string {
	return evidence.Names(m.v.Status.CurrentNodeID, m.v.MigrationNodeID, m.v.Status.CurrentMigrationNodeID)
}

func (m Migration) ticketsFact() report.Evidence {
	return evidence.FromAPI("VolumeAttachment.longhorn.io "+m.v.Name, "spec.attachmentTickets", tickets(m.pl.Volume))
}

// Dangling asks whether the status still names the target of a migration that nobody
// wants, while the volume does not come to rest: the field is cleared a moment after a
// migration ends.
func (m Migration) Dangling() evidence.Answer {
	target := m.v.Status.CurrentMigrationNodeID
	if target == "" || m.v.MigrationNodeID != "" || len(m.Tickets) >= 2 || !m.stuck() {
		return evidence.No()
	}
	a := Read(m.pl.X, "volumeattachments").Nothing(
		evidence.FromAPI("Volume "+m.v.Name, "status.currentMigrationNodeID", target),
		evidence.FromAPI("Volume "+m.v.Name, "spec.migrationNodeID", "empty"), m.ticketsFact())
	return a.With(m.saying("finalize the migration", "migration engine")...)
}

// stuck tells whether the volume is wanted or to be released for longer than that takes,
// goes round, or is refused in whatever words.
func (m Migration) stuck() bool {
	x, v := m.pl.X, m.pl.Volume
	return WantedFor(x, v) > patience || TurnsOf(x, v).Loops(m.v.Status.State) || staysAttached(x, v) ||
		slices.ContainsFunc(m.pl.Refused(), func(t evidence.Text) bool { return !t.Ordinary })
}

// Unconfirmed asks whether both ends have had the volume for long, and the source pod does
// not go away; by is that pod, for how long the migration waits.
func (m Migration) Unconfirmed() (by *snapshot.Consumer, waits time.Duration, a evidence.Answer) {
	if len(m.Tickets) < 2 {
		return nil, 0, evidence.No()
	}
	for i, t := range m.Tickets {
		age, ok := m.ticketAge(t)
		if !ok || !t.Satisfied || !t.SatisfiedGeneration {
			return nil, 0, evidence.No()
		}
		if i == 0 || age < waits {
			waits = age
		}
	}
	if waits < migrationTakes {
		return nil, 0, evidence.No()
	}
	for _, c := range m.pl.Volume.Terminating() {
		if c.Node() == m.v.Status.CurrentNodeID && m.pl.X.Age(c.Pod.DeletionTimestamp.Time) >= patience { // else it may be about to end
			return c, waits, evidence.Yes(m.ticketsFact(), evidence.FromPod(c.Pod, "metadata.deletionTimestamp", c.Pod.DeletionTimestamp.UTC().Format(time.RFC3339)))
		}
	}
	return nil, 0, evidence.No()
}

// ticketAge is since when a ticket's VolumeAttachment or its last change exists.
func (m Migration) ticketAge(t *snapshot.LHTicket) (time.Duration, bool) {
	if va := m.pl.X.Attachment(t.ID); va != nil {
		return m.pl.X.Age(va.CreationTimestamp.Time), true
	}
	for _, c := range t.Conditions {
		if !c.LastTransition.IsZero() {
			return m.pl.X.Age(c.LastTransition), true
		}
	}
	return 0, false
}

// TwoActive asks whether two Engines of the volume say that they are the active one.
func (m Migration) TwoActive() (active []*snapshot.LHEngine, a evidence.Answer) {
	var facts []report.Evidence
	for _, e := range m.pl.Volume.Longhorn.Engines {
		if e.Active && e.DeletionTimestamp == nil {
			active = append(active, e)
			facts = append(facts, evidence.FromAPI("Engine "+e.Name, "spec.active", "true, node "+OrNone(e.NodeID)))
		}
	}
	if len(active) < 2 {
		return active, evidence.No()
	}
	return active, evidence.Yes(facts...).With(m.saying("two active engines", "controller count")...)
}

// Stale is the one active engine that is not where the volume is; nil: that does not
// single one out, or it is where the volume shall go, or somebody wants it there.
func (m Migration) Stale() *snapshot.LHEngine {
	active, _ := m.TwoActive()
	current := m.v.Status.CurrentNodeID
	stale := evidence.Keep(active, func(e *snapshot.LHEngine) bool { return current != "" && e.NodeID != current })
	if len(stale) != 1 || len(active) != 2 {
		return nil
	}
	at := stale[0].NodeID
	wanted := slices.ContainsFunc(m.Tickets, func(t *snapshot.LHTicket) bool { return t.NodeID == at })
	if at != "" && (wanted || at == m.v.NodeID || slices.Contains(m.Nodes(), at)) {
		return nil
	}
	return stale[0]
}

// Going asks whether Longhorn still moves the volume: between two steps both engines may be active.
func (m Migration) Going() bool {
	return m.v.MigrationNodeID != "" && len(m.Tickets) >= 2 && !m.stuck()
}

// Inherited asks whether a replica that was copied for the migration carries a failure that
// is older than itself, so that the migration engine is torn down at once.
func (m Migration) Inherited() (e *snapshot.LHEngine, r *snapshot.LHReplica, after time.Duration, a evidence.Answer) {
	if m.v.MigrationNodeID == "" {
		return nil, nil, 0, evidence.No()
	}
	for _, e := range m.pl.Volume.Longhorn.Engines {
		if e.Active || e.CurrentState == "running" {
			continue
		}
		for _, r := range m.pl.Volume.Longhorn.Replicas {
			failed, err := time.Parse(time.RFC3339, r.LastFailedAt)
			made := r.CreationTimestamp.Time
			copied := r.EngineName == e.Name || r.MigrationEngineRef == e.Name
			if err != nil || !copied || r.Active || !failed.Before(made) || r.FailedAt == "" && r.HealthyAt != "" {
				continue
			}
			a := evidence.Yes(
				evidence.FromAPI("Replica "+r.Name, "spec.lastFailedAt", r.LastFailedAt),
				evidence.FromAPI("Replica "+r.Name, "metadata.creationTimestamp", made.UTC().Format(time.RFC3339)),
				evidence.FromAPI("Replica "+r.Name, "spec.failedAt", OrNone(r.FailedAt)),
				evidence.FromAPI("Engine "+e.Name, "status.currentState", OrNone(e.CurrentState)))
			return e, r, made.Sub(failed), a.With(m.saying("migration is marked as failed", "tearing down the migration engine")...)
		}
	}
	return nil, nil, 0, evidence.No()
}

var needsHealthy = pattern.MustCompile(`(?i)must be healthy to (start )?migrat|cannot (start )?migrat\w* .*degraded|migrat\w* .*(requires|needs) .*healthy`)

// Refused asks whether Longhorn starts no migration of a volume that lacks a replica; not
// seen: it said so once.
func (m Migration) Refused() evidence.Answer {
	for _, t := range m.pl.Texts {
		if m.v.Status.Robustness != "degraded" || !needsHealthy.MatchString(t.Raw) {
			continue
		}
		facts := []report.Evidence{t.Evidence(), evidence.FromAPI("Volume "+m.v.Name, "status.robustness", "degraded"), evidence.FromAPI("Volume "+m.v.Name, "spec.numberOfReplicas", fmt.Sprint(m.v.NumberOfReplicas))}
		if t.Fresh {
			return evidence.Yes(facts...)
		}
		return evidence.Unseen(evidence.Lack{Need: "api//events", Why: "a refusal of the last ten minutes"}).With(facts...)
	}
	return evidence.No()
}

// Usable counts the replicas that have a place and did not fail, and the nodes for them
// where those are fewer than the replicas.
func (m Migration) Usable() (replicas int, nodes string) {
	usable := evidence.Keep(m.pl.Volume.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.NodeID != "" && r.FailedAt == "" })
	if n := len(m.pl.X.Cluster.Longhorn.Nodes); n > 0 && n < m.v.NumberOfReplicas {
		nodes = fmt.Sprint(n)
	}
	return len(usable), nodes
}

// Target is the node that waits for the volume.
func (m Migration) Target() string {
	for _, va := range m.pl.Volume.Attachments {
		if !va.Status.Attached {
			return va.Spec.NodeName
		}
	}
	return OrNone(m.v.MigrationNodeID)
}

// Miscounted asks whether Longhorn freshly refuses the volume for its number of engines,
// and whether its objects are as many as it says.
func (m Migration) Miscounted() (said, counted evidence.Answer) {
	for _, t := range m.pl.Refused() {
		if !strings.Contains(t.Raw, "invalid controller count") {
			continue
		}
		if len(m.pl.Volume.Longhorn.Engines) > 1 {
			return evidence.Yes(t.Evidence()), evidence.Yes()
		}
		return evidence.Yes(t.Evidence()), evidence.Unseen(evidence.Lack{Need: "api/longhorn.io/engines", Why: "more than one Engine object, or a migration target that is left over"})
	}
	return evidence.No(), evidence.No()
}

// saying quotes up to two texts about the volume with one of the words.
func (m Migration) saying(words ...string) []report.Evidence {
	said := evidence.Keep(m.pl.Texts, func(t evidence.Text) bool { return evidence.ContainsAny(t.Raw, words...) })
	return evidence.Each(said[:min(2, len(said))], evidence.Text.Evidence)
}
