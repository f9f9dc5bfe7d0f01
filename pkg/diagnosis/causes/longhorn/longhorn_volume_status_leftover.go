package longhorn

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeStatusLeftover finds a status field that an interrupted operation or an
// upgrade left behind and that keeps the volume from moving on.
var VolumeStatusLeftover = &diagnosis.Rule{
	Name: "longhorn-volume-status-leftover", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil || v.Standby || v.Status.IsStandby {
			return nil
		}
		wanted := lh.LongWanted(pl.X, pl.Volume)
		if wanted.No() {
			return nil
		}
		var out []*diagnosis.Proof
		for _, l := range lh.Leftovers(pl.X, pl.Volume) {
			p := &diagnosis.Proof{
				Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: l.Branch,
				State: []evidence.Answer{l.State, wanted}, Last: []evidence.Answer{l.Last},
				With: words.Fields{"field": l.Field, "volume": v.Name, "value": l.Value, "state": lh.OrNone(v.Status.State),
					"wanted": evidence.Duration(lh.WantedFor(pl.X, pl.Volume))},
				Steps: []remedy.Step{remedy.Words(fmt.Sprintf("Empty %s of volume %s in namespace %s through the status subresource (kubectl edit with --subresource=status; an ordinary edit does not write it). Note the old value: writing it back undoes the step. Then upgrade Longhorn. Verify: the volume attaches within a minute.", l.Field, v.Name, v.Namespace))},
			}
			p.At(lh.WantedNodes(pl.Volume)...)
			out = append(out, p)
		}
		return out
	},
}
