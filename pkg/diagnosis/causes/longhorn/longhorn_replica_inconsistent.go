package longhorn

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ReplicaInconsistent finds replicas whose number, size or rebuild contradicts the
// volume, so that the engine cannot use them.
var ReplicaInconsistent = &diagnosis.Rule{
	Name: "longhorn-replica-inconsistent", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Attaching, diagnosis.Using, diagnosis.Replicating},
	LeadsTo: []string{"longhorn-volume-faulted"},
	Offers:  []string{"delete-replica"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		v := pl.Volume.LH()
		if v == nil {
			return nil
		}
		out := []*diagnosis.Proof{tooMany(pl, v)}
		if e := pl.X.EngineActive(pl.Volume); e != nil {
			if lh.TooLarge(e, v).Yes() {
				out = append(out, tooLarge(pl, v, e))
			} else if largest, differ := lh.SizesDiffer(pl, e, v); differ.Yes() {
				out = append(out, unequal(pl, v, e, largest, differ))
			} else if h := lh.HalfBuilt(pl, e); h != nil {
				out = append(out, halfBuilt(pl, v, h))
			}
		}
		return out
	},
}

func tooMany(pl *evidence.Place, v *snapshot.LHVolume) *diagnosis.Proof {
	all := pl.Volume.Longhorn.Replicas
	return &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: "count",
		With:  words.Fields{"volume": v.Name, "count": fmt.Sprint(len(all)), "replicas": strings.Join(evidence.Each(all, lh.Shown), "; ")},
		State: []evidence.Answer{lh.TooMany(pl)}, Last: []evidence.Answer{lh.LocalityRefused(pl)},
		Steps: remedy.RemoveEmpty(pl.X, pl.Volume),
	}
}

func tooLarge(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine) *diagnosis.Proof {
	wrong := lh.OfWrongSize(pl.X, pl.Volume)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Volume", v.Namespace, v.Name), Says: "size",
		With:  words.Fields{"volume": v.Name, "has": lh.Bytes(e.CurrentSize), "size": lh.Bytes(v.Size), "replicas": wrong.Words, "unread": words.List(wrong.Unread, 3)},
		State: []evidence.Answer{lh.TooLarge(e, v)}, Last: []evidence.Answer{lh.SizeRefused(pl).With(wrong.Facts...)},
		Steps: []remedy.Step{remedy.Words("Copy the directories of all replicas first. Then follow the version notes of Longhorn (1.3.2 to 1.5.0) for the replica whose size is wrong, while the others have the right one; or restore a backup. This is no unfinished resize: do not enlarge the volume to match.")},
	}
	if r := wrong.First; r != nil {
		p.Subject = diagnosis.ObjectSubject("Replica", r.Namespace, r.Name)
	}
	p.At(e.NodeID)
	return p
}

// unequal is the same before the engine ever took the size over: which replica it is was not seen.
func unequal(pl *evidence.Place, v *snapshot.LHVolume, e *snapshot.LHEngine, largest int64, differ evidence.Answer) *diagnosis.Proof {
	p := tooLarge(pl, v, e)
	p.Says, p.With["has"], p.State, p.Last, p.AtMost = "unequal", lh.Bytes(largest), []evidence.Answer{differ}, nil, report.Likely
	return p
}

func halfBuilt(pl *evidence.Place, v *snapshot.LHVolume, h *lh.Half) *diagnosis.Proof {
	r := h.Replica
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("Replica", r.Namespace, r.Name), Says: "rebuild",
		With:  words.Fields{"replica": r.Name, "volume": v.Name, "node": r.NodeID, "healthy": lh.OrNone(r.HealthyAt), "why": h.Why, "state": lh.OrNone(v.Status.State), "other": "", "there": ""},
		State: []evidence.Answer{h.Is()}, Last: []evidence.Answer{h.Both()},
		Steps: []remedy.Step{remedy.Words("Copy the directories of all replicas before anything else. Then let Longhorn use a complete replica instead of this one (salvage with that replica chosen in the UI), or restore a backup. Remove no replica before the copies exist, and do not salvage blindly.")},
	}
	if o := lh.Complete(pl.X, pl.Volume, r); o != nil {
		p.With["other"], p.With["there"] = o.Name, o.NodeID
	}
	p.At(r.NodeID)
	return p
}
