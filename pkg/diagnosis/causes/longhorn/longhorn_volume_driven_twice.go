package longhorn

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeDrivenTwice finds a volume whose spec.nodeID is written by somebody besides
// Longhorn's attachment controller.
var VolumeDrivenTwice = &diagnosis.Rule{
	Name: "longhorn-volume-driven-twice", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil || v.NodeID == "" {
			return nil
		}
		noTicket := lh.NoTicket(pl.X, pl.Volume)
		if noTicket.No() {
			return nil
		}
		by, pod, traces, _ := lh.Writer(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name),
			With:    words.Fields{"volume": v.Name, "node": v.NodeID, "state": lh.OrNone(v.Status.State), "by": by, "pod": pod},
			State:   []evidence.Answer{noTicket.With(traces...)},
			Last:    []evidence.Answer{lh.DrivenLong(pl)},
			Steps: []remedy.Step{remedy.Words("Find the other writer (a virtualisation layer, an operator, a script that attaches volumes through spec.nodeID or the old API) and update it: " +
				"since Longhorn 1.5 it has to create an attachment ticket. Do not answer by writing spec.nodeID as well.")},
		}
		p.At(v.NodeID)
		return []*diagnosis.Proof{p}
	},
}
