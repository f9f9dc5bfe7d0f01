package claim

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ClaimVolumeMismatch finds a pending claim that names a volume which belongs to another
// claim, or does not satisfy it in size, class, volume mode or access modes; and one that
// only a volume made by hand can serve, while none that is free fits.
var ClaimVolumeMismatch = &diagnosis.Rule{
	Name: "claim-volume-mismatch", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c := pl.Volume.Claim
		if c == nil {
			return nil
		}
		p := &diagnosis.Proof{Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), With: words.Fields{"claim": c.Namespace + "/" + c.Name}}
		switch pv := pl.X.PV(c.Spec.VolumeName); { // of two claims that name it, it is the volume of one
		case c.Spec.VolumeName == "" && pl.Volume.PV != nil:
			reserved(p, pl, c, pl.Volume.PV)
			p.Waiting = pl.X.Age(pl.Volume.PV.CreationTimestamp.Time) < time.Minute
		case c.Spec.VolumeName == "":
			nearest(p, pl, c)
			p.Waiting = pl.X.Age(c.CreationTimestamp.Time) < time.Minute // its volume may be made next
		case pv == nil:
			absent(p, pl, c)
			p.Waiting = pl.X.Age(c.CreationTimestamp.Time) < time.Minute
		default:
			named(p, pl, c, pv)
		}
		p.Users(pl.Volume.Waiting()...)
		return []*diagnosis.Proof{p}
	},
}

// named is of a claim that names a volume which it cannot have.
func named(p *diagnosis.Proof, pl *evidence.Place, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
	why, differs := claims.Differs(c, pv)
	other, taken := claims.Taken(pl.X, c, pv)
	if p.State = []evidence.Answer{differs}; differs.No() && taken.No() {
		return
	}
	p.Says, p.With["pv"], p.With["why"], p.With["default"] = "differs", pv.Name, words.List(why, 4), claims.DefaultFor(pl.X, c, pv)
	p.State = []evidence.Answer{claims.Asks(c, pv), differs.With(claims.SaidMismatch(pl)...)}
	p.Steps = remedy.Fit(c, pv, len(why))
	if taken.Yes() {
		p.Says, p.With["other"], p.With["phase"] = "taken", other, string(c.Status.Phase)
		p.State, p.Last = []evidence.Answer{taken.With(claims.SaidBoundElsewhere(pl)...)}, []evidence.Answer{claims.Owns(pl.X, pv)}
		p.Steps = remedy.AnotherVolume(c, pv)
	}
}

// reserved is of a claim for which a volume was made, or set aside by hand, that it cannot have.
func reserved(p *diagnosis.Proof, pl *evidence.Place, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
	why, is := claims.MadeOtherwise(c, pv)
	p.Says, p.With["pv"], p.With["why"], p.State = "made", pv.Name, why, []evidence.Answer{is}
	p.Steps = remedy.AnotherAttributesClass()
	if lacks, is := claims.Reserved(c, pv); p.State[0].No() && is.Yes() {
		p.Says, p.With["why"] = "reserved", words.List(lacks, 4)
		p.State = []evidence.Answer{is, evidence.Any(claims.Static(pl, c), claims.NoClass(pl.X, c))}
		p.Steps = remedy.Fit(c, pv, len(lacks))
	}
}

// absent is of a claim that names a volume which does not exist.
func absent(p *diagnosis.Proof, pl *evidence.Place, c *corev1.PersistentVolumeClaim) {
	p.Says, p.With["pv"] = "absent", c.Spec.VolumeName
	p.State = []evidence.Answer{claims.Names(c), claims.NoVolume(pl.X, c)}
	p.LookAlikes = []diagnosis.LookAlike{{Cause: "claim-lost-volume", Is: claims.WasBound(c)}}
	p.Steps = remedy.NamedVolume(c)
}

// nearest is of a claim that names no volume: which one would be its, and what it lacks.
func nearest(p *diagnosis.Proof, pl *evidence.Place, c *corev1.PersistentVolumeClaim) {
	class, _ := claims.ClassName(c)
	p.Says, p.With["class"] = "none", class
	p.State = []evidence.Answer{claims.Unbound(c), claims.Static(pl, c), evidence.Not(claims.ForClaim(pl.X, c))}
	p.Steps = remedy.FittingVolume()
	if pv, why := claims.Nearest(pl.X, c); pv != nil {
		p.Says, p.With["pv"], p.With["why"] = "nearest", pv.Name, words.List(why, 4)
		p.State = append(p.State, evidence.Yes(evidence.FromAPI("PersistentVolume "+pv.Name, "spec compared with the claim", words.List(why, 4))))
		p.Steps = remedy.Correct(c, pv)
	}
}
