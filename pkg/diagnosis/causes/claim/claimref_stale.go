package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ClaimrefStale finds a PV that remembers an older claim.
var ClaimrefStale = &diagnosis.Rule{
	Name: "claimref-stale", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning, diagnosis.Publishing},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "/persistentvolumes"))}
		for _, pair := range claims.Pairs(pl) {
			if remembers := pair.Remembers(pl.X); remembers.Yes() {
				out = append(out, staleRef(pl, pair, remembers))
			}
		}
		return out
	},
}

func staleRef(pl *evidence.Place, pair claims.Pair, remembers evidence.Answer) *diagnosis.Proof {
	c, pv, r := pair.Claim, pair.PV, pair.PV.Spec.ClaimRef
	claim := c.Namespace + "/" + c.Name
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolume", "", pv.Name), Says: "older",
		With: words.Fields{"pv": pv.Name, "phase": string(pv.Status.Phase), "older": r.Namespace + "/" + r.Name, "uid": string(r.UID),
			"claim": claim, "own": string(c.UID)},
		State: []evidence.Answer{remembers.With(claims.SaidBoundElsewhere(pl)...)},
		Last:  []evidence.Answer{pair.Forgotten(pl.X), pair.Alone(pl.X)},
	}
	if r.UID == "" {
		p.Says = "none"
	}
	p.Steps = remedy.TakeOver(c, pv, pair.Named() && evidence.All(p.Last...).Yes())
	p.Volume(pl.X.VolumeOfClaim(c.Namespace, c.Name))
	p.Object("pv", pv.Name)
	p.Pods(pl.X.PodsOfClaim(c.Namespace, c.Name)...)
	return p
}
