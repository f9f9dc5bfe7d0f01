package longhorn

import (
	_ "embed"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_migration_inconsistent.md
var longhornMigrationInconsistentDoc string

// MigrationInconsistent finds a live migration that is dangling, unconfirmed, refused,
// or left with two active engines.
var MigrationInconsistent = &diagnosis.Rule{
	Name: "longhorn-migration-inconsistent", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engines")},
	Explains: []string{"volume-attach-loop", "attach-failed", "detach-stuck", "pod-stuck-terminating", "pod-waiting-for-volume", "multi-attach-error"},
	Offers:   []string{"delete-engine"},
	Doc:      longhornMigrationInconsistentDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if lh := volumeOf(v); lh != nil && lh.Migratable {
				m := &migration{p: p, v: v, lh: lh}
				m.find()
			}
		}
	},
}

// migration is a migratable volume with the csi tickets that want it.
type migration struct {
	p       *diagnosis.Pass
	v       *snapshot.Volume
	lh      *snapshot.LHVolume
	tickets []*snapshot.LHTicket
}

// find reports the first branch that holds; a migration that makes progress has none.
func (m *migration) find() {
	if a := m.v.Longhorn.Attachment; a != nil {
		for i := range a.Tickets {
			if a.Tickets[i].Type == "csi-attacher" {
				m.tickets = append(m.tickets, &a.Tickets[i])
			}
		}
	}
	for _, branch := range []func() *diagnosis.Finding{m.twoEngines, m.dangling, m.inherited, m.unconfirmed, m.refused, m.controllers} {
		f := branch()
		if f == nil {
			continue
		}
		f.On(m.v)
		for _, va := range m.v.Attachments {
			f.Object("va", va.Name)
		}
		for _, n := range m.nodes() {
			f.Located(n)
		}
		m.p.Report(f)
		return
	}
}

func (m *migration) found(c report.Certainty) *diagnosis.Finding {
	return m.p.Find(c, diagnosis.ObjectSubject("Volume", m.lh.Namespace, m.lh.Name))
}

// nodes are those between which the volume moves.
func (m *migration) nodes() []string {
	out := []string{}
	for _, n := range []string{m.lh.Status.CurrentNodeID, m.lh.MigrationNodeID, m.lh.Status.CurrentMigrationNodeID} {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}
