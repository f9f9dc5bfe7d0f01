package longhorn

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// migrationTakes is how long a live migration may wait for its confirmation.
const migrationTakes = 15 * time.Minute

// dangling: the status still names a target of a migration that nobody wants.
func (m *migration) dangling() *diagnosis.Finding {
	target := m.lh.Status.CurrentMigrationNodeID
	if target == "" || m.lh.MigrationNodeID != "" || len(m.tickets) >= 2 || !m.p.Collected("longhorn.io/volumeattachments") {
		return nil
	}
	if !m.p.Suffers(m.v, "volume-attach-loop", "attach-failed", "detach-stuck", "pod-waiting-for-volume") {
		return nil // the field is cleared a moment after a migration ends
	}
	f := m.found(report.Certain)
	f.Sayf("status.currentMigrationNodeID of Longhorn volume %s still names %s, while spec.migrationNodeID is empty and %d csi tickets want the volume: the live migration does not exist any more, but Longhorn goes on finishing it, so the volume flaps (%s now) and nothing can attach.",
		m.lh.Name, target, len(m.tickets), none(m.lh.Status.State))
	f.Fact(
		diagnosis.FromAPI("Volume "+m.lh.Name, "status.currentMigrationNodeID", target),
		diagnosis.FromAPI("Volume "+m.lh.Name, "spec.migrationNodeID", "empty"),
		diagnosis.FromAPI("VolumeAttachment.longhorn.io "+m.lh.Name, "spec.attachmentTickets", lhe.Tickets(m.v)),
	)
	f.Fact(m.saying("finalize the migration", "migration engine")...)
	return f.Unless("a second csi ticket, or spec.migrationNodeID set").Advise(remedy.Words("Stop the virtual machine, then empty status.currentMigrationNodeID of the volume through the status subresource (an ordinary edit does not write it); note the old value. Not while two tickets exist. The attachment object of Longhorn stays: it is rightly empty."))
}

// unconfirmed: both ends have the volume, and the source pod does not go away.
func (m *migration) unconfirmed() *diagnosis.Finding {
	if len(m.tickets) < 2 {
		return nil
	}
	var youngest time.Duration
	for i, t := range m.tickets {
		age, ok := m.ticketAge(t)
		if !ok || !t.Satisfied || !t.SatisfiedGeneration {
			return nil
		}
		if i == 0 || age < youngest {
			youngest = age
		}
	}
	if youngest < migrationTakes {
		return nil
	}
	for _, c := range m.v.Terminating() {
		if c.Node() != m.lh.Status.CurrentNodeID || m.p.Age(c.Pod.DeletionTimestamp.Time) < patience {
			continue // it may be about to end
		}
		f := m.found(report.Certain)
		f.Pod(c.Pod)
		f.Sayf("The live migration of Longhorn volume %s has been waiting for its confirmation for %s: both csi tickets are satisfied, and the source pod %s/%s on node %s is Terminating without an end, so its attachment is not given up.",
			m.lh.Name, diagnosis.Duration(youngest), c.Pod.Namespace, c.Pod.Name, c.Node())
		f.Fact(
			diagnosis.FromAPI("VolumeAttachment.longhorn.io "+m.lh.Name, "spec.attachmentTickets", lhe.Tickets(m.v)),
			diagnosis.FromAPI("Pod "+c.Pod.Namespace+"/"+c.Pod.Name, "metadata.deletionTimestamp", c.Pod.DeletionTimestamp.UTC().Format(time.RFC3339)),
		)
		return f.Unless("a source pod that ends").Advise(remedy.Words("Find out on node " + c.Node() + " why the source pod does not end, or stop the virtual machine. The attachment that is left over is removed only after the machine is off."))
	}
	return nil
}

// ticketAge is since when a ticket's VolumeAttachment or its last change exists.
func (m *migration) ticketAge(t *snapshot.LHTicket) (time.Duration, bool) {
	if va := m.p.Attachment(t.ID); va != nil {
		return m.p.Age(va.CreationTimestamp.Time), true
	}
	for _, c := range t.Conditions {
		if !c.LastTransition.IsZero() {
			return m.p.Age(c.LastTransition), true
		}
	}
	return 0, false
}

// twoEngines: two Engines of the volume say that they are the active one.
func (m *migration) twoEngines() *diagnosis.Finding {
	var active []*snapshot.LHEngine
	for _, e := range m.v.Longhorn.Engines {
		if e.Active && e.DeletionTimestamp == nil {
			active = append(active, e)
		}
	}
	if len(active) < 2 {
		return nil
	}
	f := m.found(report.Certain)
	var names []string
	for _, e := range active {
		names = append(names, fmt.Sprintf("%s on node %s (%s)", e.Name, none(e.NodeID), none(e.CurrentState)))
		f.Fact(diagnosis.FromAPI("Engine "+e.Name, "spec.active", "true, node "+none(e.NodeID)))
	}
	f.Sayf("Longhorn volume %s has %d active engines: %s. A live migration ended between two steps; Longhorn refuses every change until one of them is gone. The volume is on node %s.",
		m.lh.Name, len(active), strings.Join(names, ", "), none(m.lh.Status.CurrentNodeID))
	f.Fact(m.saying("two active engines", "controller count")...)
	m.adviseEngine(f, active)
	return f.Unless("one Engine with spec.active true")
}

// adviseEngine offers to delete the engine that is not where the volume is, when its
// node shows no use of its disk.
func (m *migration) adviseEngine(f *diagnosis.Finding, active []*snapshot.LHEngine) {
	current := m.lh.Status.CurrentNodeID
	var stale []*snapshot.LHEngine
	for _, e := range active {
		if current != "" && e.NodeID != current {
			stale = append(stale, e)
		}
	}
	if len(stale) != 1 || len(active) != 2 {
		f.Advise(remedy.Words("Stop the virtual machine first. Which engine is left over cannot be told from the objects, because status.currentNodeID does not single one out."))
		return
	}
	f.Advise(remedy.DeleteEngine(m.v, stale[0]).Note("Only that one: its node is not status.currentNodeID."))
}

// inherited: a replica that was copied for the migration carries a failure that is
// older than itself, so the migration engine is torn down at once.
func (m *migration) inherited() *diagnosis.Finding {
	if m.lh.MigrationNodeID == "" {
		return nil
	}
	for _, e := range m.v.Longhorn.Engines {
		if e.Active || e.CurrentState == "running" {
			continue
		}
		for _, r := range m.v.Longhorn.Replicas {
			failed, err := time.Parse(time.RFC3339, r.LastFailedAt)
			made := r.CreationTimestamp.Time
			copied := r.EngineName == e.Name || r.MigrationEngineRef == e.Name
			if err != nil || !copied || r.Active || !failed.Before(made) || r.FailedAt == "" && r.HealthyAt != "" {
				continue
			}
			return m.inheritedFrom(e, r, failed)
		}
	}
	return nil
}

func (m *migration) inheritedFrom(e *snapshot.LHEngine, r *snapshot.LHReplica, failed time.Time) *diagnosis.Finding {
	f := m.found(report.Certain)
	f.Sayf("The live migration of Longhorn volume %s to node %s never gets its second engine: replica %s, copied for the migration engine %s, inherited lastFailedAt %s from its source. It was created %s after that failure and is taken for failed all the same; the engine (%s) is torn down and all begins anew. The volume itself is %s.",
		m.lh.Name, m.lh.MigrationNodeID, r.Name, e.Name, r.LastFailedAt, diagnosis.Duration(r.CreationTimestamp.Sub(failed)), e.CurrentState, none(m.lh.Status.Robustness))
	f.Fact(
		diagnosis.FromAPI("Replica "+r.Name, "spec.lastFailedAt", r.LastFailedAt),
		diagnosis.FromAPI("Replica "+r.Name, "metadata.creationTimestamp", r.CreationTimestamp.UTC().Format(time.RFC3339)),
		diagnosis.FromAPI("Replica "+r.Name, "spec.failedAt", none(r.FailedAt)),
		diagnosis.FromAPI("Engine "+e.Name, "status.currentState", none(e.CurrentState)),
	)
	f.Fact(m.saying("migration is marked as failed", "tearing down the migration engine")...)
	return f.Unless("a migration engine that runs").Advise(remedy.Words("Cancel the migration and let the virtual machine run where it is; upgrade Longhorn. The source replica is healthy: an ordinary detach and attach (stop and start of the machine) makes no copies and works."))
}

var needsHealthy = regexp.MustCompile(`(?i)must be healthy to (start )?migrat|cannot (start )?migrat\w* .*degraded|migrat\w* .*(requires|needs) .*healthy`)

// refused: Longhorn starts no migration of a volume that lacks a replica.
func (m *migration) refused() *diagnosis.Finding {
	if m.lh.Status.Robustness != "degraded" {
		return nil
	}
	for _, t := range m.p.Texts(m.v) {
		if !needsHealthy.MatchString(t.Raw) {
			continue
		}
		c := report.Certain
		if !t.Fresh {
			c = report.Likely
		}
		f := m.found(c)
		usable := 0
		for _, r := range m.v.Longhorn.Replicas {
			if r.NodeID != "" && r.FailedAt == "" {
				usable++
			}
		}
		f.Sayf("Longhorn refuses the live migration of volume %s from node %s to %s, because the volume is degraded: it has %d of the %d replicas that it wants%s. It works well where it is.",
			m.lh.Name, none(m.lh.Status.CurrentNodeID), m.target(), usable, m.lh.NumberOfReplicas, m.nodesForReplicas())
		f.Fact(t.Evidence(), diagnosis.FromAPI("Volume "+m.lh.Name, "status.robustness", "degraded"), diagnosis.FromAPI("Volume "+m.lh.Name, "spec.numberOfReplicas", fmt.Sprint(m.lh.NumberOfReplicas)))
		if c == report.Likely {
			f.NotConfirmed = append(f.NotConfirmed, "a refusal of the last ten minutes")
		}
		return f.Unless("a healthy volume").Advise(remedy.Words("Make the volume healthy: lower its number of replicas to what the nodes can hold, or add a node or disk, and wait for the rebuild. Then migrate again. Both VolumeAttachments of a migration are right; leave them."))
	}
	return nil
}

// target is the node that waits for the volume.
func (m *migration) target() string {
	for _, va := range m.v.Attachments {
		if !va.Status.Attached {
			return va.Spec.NodeName
		}
	}
	return none(m.lh.MigrationNodeID)
}

// nodesForReplicas says when there are fewer nodes than replicas.
func (m *migration) nodesForReplicas() string {
	n := len(m.p.Cluster.Longhorn.Nodes)
	if n == 0 || n >= m.lh.NumberOfReplicas {
		return ""
	}
	return fmt.Sprintf(", on a cluster with %d storage nodes", n)
}

var controllerCount = regexp.MustCompile(`invalid controller count`)

// controllers: Longhorn counts more engines than it expects and says so.
func (m *migration) controllers() *diagnosis.Finding {
	for _, t := range m.p.Texts(m.v) {
		if !t.Fresh || !controllerCount.MatchString(t.Raw) {
			continue
		}
		c := report.Likely
		if len(m.v.Longhorn.Engines) > 1 {
			c = report.Certain // its objects are as many as it says
		}
		f := m.found(c)
		f.Sayf("Longhorn refuses to attach volume %s for its number of engines (%d Engine objects): a live migration was cut off between two steps.", m.lh.Name, len(m.v.Longhorn.Engines))
		if c == report.Likely {
			f.NotConfirmed = append(f.NotConfirmed, "more than one Engine object, or a migration target that is left over")
		}
		return f.Fact(t.Evidence()).Unless("one Engine of the volume").Advise(remedy.Words("Stop the virtual machine and let the volume detach; Longhorn then keeps one engine."))
	}
	return nil
}

// saying quotes up to two log lines about the volume with one of the words.
func (m *migration) saying(words ...string) []report.Evidence {
	var out []report.Evidence
	for _, t := range m.p.Texts(m.v) {
		for _, w := range words {
			if len(out) < 2 && strings.Contains(t.Raw, w) {
				out = append(out, t.Evidence())
				break
			}
		}
	}
	return out
}
