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
		switch {
		case c == nil:
			return nil
		case c.Spec.VolumeName == "" && pl.Volume.PV != nil:
			return made(pl, c)
		case c.Spec.VolumeName == "":
			return nearest(pl, c)
		}
		if pl.X.PV(c.Spec.VolumeName) == nil {
			return absent(pl, c)
		}
		pv := pl.X.PV(c.Spec.VolumeName) // of two claims that name it, it is the volume of one
		why, differs := claims.Differs(c, pv)
		other, taken := claims.Taken(pl.X, c, pv)
		if differs.No() && taken.No() {
			return nil
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name),
			Says:    "differs",
			With: words.Fields{"claim": c.Namespace + "/" + c.Name, "pv": pv.Name, "why": words.List(why, 4),
				"default": claims.DefaultFor(pl.X, c, pv)},
			State: []evidence.Answer{claims.Asks(c, pv), differs.With(claims.SaidMismatch(pl)...)},
			Steps: append([]remedy.Step{
				remedy.Check("Compare the two objects.",
					remedy.Kubectl("-n", c.Namespace, "get", "pvc", c.Name, "-o", "jsonpath={.spec}"),
					remedy.Kubectl("get", "pv", pv.Name, "-o", "jsonpath={.spec}")),
			}, correct(c, pv, len(why))...),
		}
		if taken.Yes() {
			r := pv.Spec.ClaimRef
			p.Says, p.With["other"] = "taken", other
			p.State, p.Last = []evidence.Answer{taken.With(claims.SaidBoundElsewhere(pl)...)}, []evidence.Answer{claims.Owns(pl.X, pv)}
			p.Steps = []remedy.Step{
				remedy.Check("See whose the volume is, and which pods use it.", remedy.Kubectl("get", "pv", pv.Name, "-o", "jsonpath={.spec.claimRef}"), remedy.Kubectl("-n", r.Namespace, "describe", "pvc", r.Name)),
				remedy.Words("Make claim " + c.Namespace + "/" + c.Name + " anew without spec.volumeName, or with a volume that is free: it is Pending and holds no data. What lies on " + pv.Name + " belongs to claim " + other + "; leave its claimRef alone while that claim is wanted."),
			}
		}
		p.Keys.Users(pl.Volume.Waiting()...)
		return []*diagnosis.Proof{p}
	},
}

// made is of a claim for which a volume was made that it cannot have.
func made(pl *evidence.Place, c *corev1.PersistentVolumeClaim) []*diagnosis.Proof {
	pv := pl.Volume.PV
	why, is := claims.MadeOtherwise(c, pv)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), Says: "made",
		With:    words.Fields{"claim": c.Namespace + "/" + c.Name, "pv": pv.Name, "why": why},
		Waiting: pl.X.Age(pv.CreationTimestamp.Time) < time.Minute, State: []evidence.Answer{is},
		Steps: []remedy.Step{
			remedy.Check("See which classes of attributes there are, and of which driver.", remedy.Kubectl("get", "volumeattributesclasses")),
			remedy.Words("Make the claim anew without a VolumeAttributesClass, or with one that exists and that the driver's provisioner knows (the feature gate VolumeAttributesClass of external-provisioner, and the driver's MODIFY_VOLUME). The claim is Pending and holds no data; its volume goes with it."),
		},
	}
	p.Keys.Users(pl.Volume.Waiting()...)
	return []*diagnosis.Proof{p}
}

// absent is of a claim that names a volume which does not exist.
func absent(pl *evidence.Place, c *corev1.PersistentVolumeClaim) []*diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), Says: "absent",
		With:       words.Fields{"claim": c.Namespace + "/" + c.Name, "pv": c.Spec.VolumeName},
		Waiting:    pl.X.Age(c.CreationTimestamp.Time) < time.Minute, // its volume may be made next
		State:      []evidence.Answer{claims.Names(c), claims.NoVolume(pl.X, c)},
		LookAlikes: []diagnosis.LookAlike{{Cause: "claim-lost-volume", Is: claims.WasBound(c)}},
		Steps: []remedy.Step{
			remedy.Check("See which volumes there are, and whose they are.", remedy.Kubectl("get", "pv")),
			remedy.Words("Make PersistentVolume " + c.Spec.VolumeName + ", or make the claim anew with the name of one that exists, or without spec.volumeName for a class that makes volumes: it is Pending and holds no data."),
		},
	}
	p.Keys.Users(pl.Volume.Waiting()...)
	return []*diagnosis.Proof{p}
}

// nearest is of a claim that names no volume: which one would be its, and what it lacks.
func nearest(pl *evidence.Place, c *corev1.PersistentVolumeClaim) []*diagnosis.Proof {
	static := claims.Static(pl, c)
	if static.No() {
		return nil
	}
	class, _ := claims.ClassName(c)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), Says: "none",
		With:    words.Fields{"claim": c.Namespace + "/" + c.Name, "class": class},
		Waiting: pl.X.Age(c.CreationTimestamp.Time) < time.Minute, // its volume may be made next
		State:   []evidence.Answer{claims.Unbound(c), static, evidence.Not(claims.ForClaim(pl.X, c))},
		Steps: []remedy.Step{
			remedy.Check("See which volumes there are, of which class, and whose they are.",
				remedy.Kubectl("get", "pv", "-o", "custom-columns=NAME:.metadata.name,CLASS:.spec.storageClassName,SIZE:.spec.capacity.storage,PHASE:.status.phase,CLAIM:.spec.claimRef.name")),
			remedy.Words("Make a PersistentVolume that fits, or let the static provisioner find a disk for one; or make the claim anew with a class that makes volumes (it is Pending and holds no data)."),
		},
	}
	if pv, why := claims.Nearest(pl.X, c); pv != nil {
		p.Says, p.With["pv"], p.With["why"] = "nearest", pv.Name, words.List(why, 4)
		p.State = append(p.State, evidence.Yes(evidence.FromAPI("PersistentVolume "+pv.Name, "spec compared with the claim", words.List(why, 4))))
		p.Steps = []remedy.Step{
			remedy.Check("Compare the two objects.",
				remedy.Kubectl("-n", c.Namespace, "get", "pvc", c.Name, "-o", "jsonpath={.spec}"),
				remedy.Kubectl("get", "pv", pv.Name, "-o", "yaml")),
			remedy.Words("Correct PersistentVolume " + pv.Name + " or the claim in what is named (a pending claim holds no data and may be made anew), or make a volume that fits. Whose data lie on a volume that was released must be known before it is given to another claim."),
		}
	}
	for _, w := range pl.Volume.Waiting() {
		p.Keys.Pod(w.Pod)
	}
	return []*diagnosis.Proof{p}
}

// correct says what to write anew in the claim, or else in the volume: a pending claim
// cannot be changed, size, class and access modes of a volume can
// (pkg/apis/core/validation, ValidatePersistentVolumeUpdate).
func correct(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume, n int) []remedy.Step {
	var out []remedy.Step
	have := claims.ClassOf(pv)
	want, _ := claims.ClassName(c)
	switch have {
	case want:
	case "":
		out = append(out, remedy.Words("Make the claim anew with an empty storageClassName, written out (left out, it becomes the default class): it is Pending and holds no data. Or set the class of PersistentVolume "+pv.Name+" to that of the claim, which can be done in place."))
	default:
		out = append(out, remedy.Words("Make the claim anew with storageClassName: "+have+": it is Pending and holds no data. Or set the class of PersistentVolume "+pv.Name+" to that of the claim, which can be done in place."))
	}
	if n > len(out) {
		out = append(out, remedy.Words("Make the claim anew with a size and modes that the volume has: it is Pending and holds no data. Or correct size or access modes of PersistentVolume "+pv.Name+", its size never beyond what the storage has."))
	}
	return out
}
