package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// StorageclassMissing finds pending claims whose class does not exist, or that name
// none where no class is the default, while no volume made by hand fits either.
var StorageclassMissing = &diagnosis.Rule{
	Name: "storageclass-missing", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Provisioning},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c := pl.Volume.Claim
		if c == nil {
			return nil
		}
		unbound, missing := claims.Unbound(c), claims.NoClass(pl.X, c)
		if unbound.No() || missing.No() {
			return nil
		}
		class, set := claims.ClassName(c)
		unfit, facts := claims.Unfit(pl.X, c)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name),
			With: words.Fields{"claim": c.Namespace + "/" + c.Name, "class": class, "unfit": words.List(unfit, 5),
				"classes": words.List(claims.Classes(pl.X), 8)},
			State:      []evidence.Answer{unbound, missing.With(append(facts, claims.SaidNoClass(pl)...)...)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a volume made by hand that fits the claim", Is: claims.ForClaim(pl.X, c)}},
		}
		if told := claims.ToldNoClass(pl); missing.Unseen() && told.Yes() {
			p.State, p.Last = []evidence.Answer{unbound, told}, []evidence.Answer{missing}
		}
		switch {
		case !set:
			p.Says = "default"
			p.Steps = []remedy.Step{remedy.Words("Mark one class as default (from Kubernetes 1.26 on pending claims without a class take it), or name a class. The class of an existing claim cannot be changed: a pending claim holds no data and may be made anew.")}
		case len(unfit) > 0:
			p.Says = "unfit"
			p.Steps = []remedy.Step{remedy.Words("Correct the claim or the volume in the fields that are named; the volumes of this class were made by hand. A pending claim holds no data and may be made anew; a PersistentVolume object with reclaim policy Retain may be made anew for the same storage.")}
		default:
			p.Says, p.With["carries"] = "named", ""
			if evidence.Resource(pl.X, "/persistentvolumes").Complete() {
				p.With["carries"] = "class"
			}
			p.Steps = []remedy.Step{remedy.Words("Create the class under this name, or make the claim anew with another one: the class of an existing claim cannot be changed, and a pending claim holds no data.")}
		}
		p.Keys.Users(pl.Volume.Waiting()...)
		return []*diagnosis.Proof{p}
	},
}
