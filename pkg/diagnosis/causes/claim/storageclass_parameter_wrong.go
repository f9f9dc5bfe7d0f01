package claim

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/provision"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// StorageclassParameterWrong finds a parameter of a class that makes its volumes
// unusable in the way they are consumed.
var StorageclassParameterWrong = &diagnosis.Rule{
	Name: "storageclass-parameter-wrong", Layer: diagnosis.Claim, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing},
	LeadsTo:  []string{"provisioning-failed"},
	YieldsTo: []string{"driver-configuration-wrong", "encryption-key-wrong", "csi-credentials-wrong"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		m, ok := provision.MisfitOf(pl)
		if !ok {
			return nil
		}
		v, class := pl.Volume, provision.ClassOf(pl.Volume)
		failing := provision.Failing(pl)
		waiters := evidence.Each(failing, pods.Name)
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("StorageClass", "", class),
			With: words.Fields{"class": class, "key": m.Key, "value": m.Value, "claim": v.Claim.Namespace + "/" + v.Claim.Name, "because": m.Because,
				"waiters": words.List(waiters, 0)},
			State: []evidence.Answer{evidence.Yes(m.Facts...)},
			Last:  []evidence.Answer{m.Sure(pl.X)},
			Steps: []remedy.Step{remedy.Words("Make a class " + m.Instead + ", a new volume from it, and copy the data. " +
				"A change of the class does not reach volumes that exist, and the field of an existing volume is not edited under a consumer.")},
		}
		if m.InPlace != "" {
			p.Steps = []remedy.Step{remedy.Words(m.InPlace), remedy.Words("For later claims make a class " + m.Instead + ": a class cannot be edited.")}
		}
		if m.Own {
			p.Says, p.With["volume"], p.Subject = "own", v.PVName(), diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
			p.Steps = p.Steps[:1]
			if m.InPlace == "" {
				p.Steps[0] = remedy.Words("Make a volume " + m.Instead + ", and copy the data: such a field of an existing volume is not edited under a consumer.")
			}
		}
		if v.PV == nil {
			p.Steps = []remedy.Step{remedy.Words("Make a class " + m.Instead + ", and the pending claim anew with it: a class cannot be edited, and the claim holds no data yet.")}
		}
		p.Pods(failing...)
		p.Attachment(v.Attachments...)
		return []*diagnosis.Proof{p}
	},
}
