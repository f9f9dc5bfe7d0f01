package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// MigrationInconsistent finds a live migration that is dangling, unconfirmed, refused,
// or left with two active engines.
var MigrationInconsistent = &diagnosis.Rule{
	Name: "longhorn-migration-inconsistent", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	Offers: []string{"delete-engine"},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		m, ok := lh.MigrationOf(pl)
		if !ok {
			return nil
		}
		v := pl.Volume.LH()
		usable, nodes := m.Usable()
		p := &diagnosis.Proof{Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name)}
		p.With = words.Fields{"volume": v.Name, "state": v.Status.State, "node": v.Status.CurrentNodeID, "target": m.Target(), "dangling": v.Status.CurrentMigrationNodeID, "robustness": v.Status.Robustness,
			"tickets": fmt.Sprint(len(m.Tickets)), "usable": fmt.Sprint(usable), "replicas": fmt.Sprint(v.NumberOfReplicas), "nodes": nodes, "engines": fmt.Sprint(len(pl.Volume.Longhorn.Engines))}
		p.Steps = migrate(pl, m, p)
		p.Attachment(pl.Volume.Attachments...)
		p.At(m.Nodes()...)
		return []*diagnosis.Proof{p}
	},
}

// migrate states the first branch that holds, and returns what to do about it; a migration
// that makes progress has none.
func migrate(pl *evidence.Place, m lh.Migration, p *diagnosis.Proof) []remedy.Step {
	active, two := m.TwoActive()
	e, r, after, inherited := m.Inherited()
	by, waits, unconfirmed := m.Unconfirmed()
	said, counted := m.Miscounted()
	switch {
	case two.Yes():
		names := evidence.Each(active, func(e *snapshot.LHEngine) string {
			return fmt.Sprintf("%s on node %s (%s)", e.Name, lh.OrNone(e.NodeID), lh.OrNone(e.CurrentState))
		})
		p.Says, p.State, p.With["active"] = "two", []evidence.Answer{two}, words.List(names, 0)
		if m.Going() {
			p.AtMost = report.Possible
		}
		if stale := m.Stale(); stale != nil {
			return []remedy.Step{remedy.DeleteEngine(pl.Volume, stale).Note("Only that one: its node is not status.currentNodeID.")}
		}
		return []remedy.Step{remedy.Words("Stop the virtual machine first. Which engine is left over cannot be told from the objects, because status.currentNodeID does not single one out, or a migration still wants both.")}
	case m.Dangling().Yes():
		p.Says, p.State = "dangling", []evidence.Answer{m.Dangling()}
		return []remedy.Step{remedy.Words("Stop the virtual machine, then empty status.currentMigrationNodeID of the volume through the status subresource (an ordinary edit does not write it); note the old value. Not while two tickets exist. The attachment object of Longhorn stays: it is rightly empty.")}
	case inherited.Yes():
		p.Says, p.State = "inherited", []evidence.Answer{inherited}
		p.With["replica"], p.With["engine"], p.With["enginestate"], p.With["failed"], p.With["after"] = r.Name, e.Name, lh.OrNone(e.CurrentState), r.LastFailedAt, evidence.Duration(after)
		return []remedy.Step{remedy.Words("Cancel the migration and let the virtual machine run where it is; upgrade Longhorn. The source replica is healthy: an ordinary detach and attach (stop and start of the machine) makes no copies and works.")}
	case unconfirmed.Yes():
		p.Says, p.State, p.With["waits"], p.With["pod"] = "unconfirmed", []evidence.Answer{unconfirmed}, evidence.Duration(waits), by.Pod.Namespace+"/"+by.Pod.Name
		p.Pod(by.Pod)
		return []remedy.Step{remedy.Words("Find out on node " + by.Node() + " why the source pod does not end, or stop the virtual machine. The attachment that is left over is removed only after the machine is off.")}
	case !m.Refused().No():
		p.Says, p.State, p.Last = "refused", []evidence.Answer{evidence.Yes(m.Refused().Facts()...)}, []evidence.Answer{m.Refused()}
		return []remedy.Step{remedy.Words("Make the volume healthy: lower its number of replicas to what the nodes can hold, or add a node or disk, and wait for the rebuild. Then migrate again. Both VolumeAttachments of a migration are right; leave them.")}
	case said.Yes():
		p.Says, p.State, p.Last = "count", []evidence.Answer{said}, []evidence.Answer{counted}
		return []remedy.Step{remedy.Words("Stop the virtual machine and let the volume detach; Longhorn then keeps one engine.")}
	}
	p.State = []evidence.Answer{m.Dangling()} // not seen: not checked
	return nil
}
