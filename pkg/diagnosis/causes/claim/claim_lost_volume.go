package claim

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ClaimLostVolume finds a claim that was bound to a PV object which is gone.
var ClaimLostVolume = &diagnosis.Rule{
	Name: "claim-lost-volume", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Publishing},
	LeadsTo: []string{"volumeattachment-volume-gone"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		c := pl.Volume.Claim
		if c == nil {
			return nil
		}
		if nameless := claims.Nameless(c); nameless.Yes() {
			return []*diagnosis.Proof{namesNone(pl, c, nameless)}
		}
		if c.Spec.VolumeName == "" {
			return nil
		}
		gone := claims.NoVolume(pl.X, c)
		if gone.No() {
			return nil
		}
		survivor, fact := claims.Survivor(pl)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), Says: "gone",
			With:  words.Fields{"claim": c.Namespace + "/" + c.Name, "phase": string(c.Status.Phase), "pv": c.Spec.VolumeName, "survivor": survivor},
			State: []evidence.Answer{claims.WasBound(c).With(fact)},
			Hint:  claims.SaidLost(pl),
			Steps: []remedy.Step{
				remedy.Words(fmt.Sprintf("Keep the claim: while it exists its uid and the name %s tell what belonged to it. Look in the storage backend whether the volume itself survives (it is gone when the PersistentVolume was deleted with the reclaim policy Delete).", c.Spec.VolumeName)),
				remedy.Words(fmt.Sprintf("If the volume survives in the storage backend, make the PersistentVolume anew with the same name %s, the same driver and volume handle, the policy Retain, and a claimRef to %s/%s with uid %s. The controller then binds the two again; the phase becomes Bound.",
					c.Spec.VolumeName, c.Namespace, c.Name, c.UID)),
			},
		}
		// The phase Lost has another reason, too: the PV belongs to another claim.
		if c.Status.Phase == corev1.ClaimLost {
			p.Last = []evidence.Answer{gone}
		} else {
			p.State = append(p.State, gone)
		}
		if len(pl.Volume.Waiting()) == 0 && len(pl.Volume.Running()) > 0 {
			p.Severity = report.Degraded // the mount does not ask for the object; the next start does
		}
		p.Users(pl.Volume.Waiting()...)
		p.Attachment(pl.Volume.Attachments...)
		return []*diagnosis.Proof{p}
	},
}

func namesNone(pl *evidence.Place, c *corev1.PersistentVolumeClaim, nameless evidence.Answer) *diagnosis.Proof {
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name), Says: "nameless",
		With:  words.Fields{"claim": c.Namespace + "/" + c.Name},
		State: []evidence.Answer{nameless}, Hint: claims.SaidLost(pl),
		Steps: []remedy.Step{
			remedy.Check("Look whether a PersistentVolume is the claim's: its claimRef names the claim.", remedy.Kubectl("get", "pv", "-o", "custom-columns=NAME:.metadata.name,STATUS:.status.phase,NAMESPACE:.spec.claimRef.namespace,CLAIM:.spec.claimRef.name")),
			remedy.Words("If one is, write its name into spec.volumeName of the claim, and the claim's uid into its claimRef. If none is and the claim may begin empty, take the annotation off, and the controller binds or makes a volume as for a new claim: " +
				remedy.Inline("kubectl", "-n", c.Namespace, "annotate", "pvc", c.Name, claims.BindCompleted+"-")),
		},
	}
	p.Users(pl.Volume.Waiting()...)
	return p
}
