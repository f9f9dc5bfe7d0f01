package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DriverConfigurationWrong finds a volume for which its driver's own configuration has
// nothing.
var DriverConfigurationWrong = &diagnosis.Rule{
	Name: "driver-configuration-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Resizing},
	LeadsTo: []string{"provisioning-failed"},
	Asks:    diagnosis.EachVolume,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		key, first, said := csi.Misconfigured(pl)
		if !said.Yes() {
			return nil
		}
		driver, subject := pl.Volume.CSIName(), diagnosis.VolumeSubject(pl.Volume)
		if pl.Volume.PV == nil && pl.Volume.Class != nil {
			driver, subject = pl.Volume.Class.Provisioner, diagnosis.ObjectSubject("StorageClass", "", pl.Volume.Class.Name)
		}
		ns, name, fact := csi.Configuration(pl, driver, said)
		p := &diagnosis.Proof{
			Subject: subject, With: words.Fields{"driver": driver, "object": subject.Kind + " " + subject.Name, "key": key, "map": name, "ns": ns},
			State: []evidence.Answer{said.With(fact)},
			Also:  []string{"The content of ConfigMaps is never read, so what exactly is missing in it was not read."},
		}
		if !first {
			p.AtMost = report.Likely
		}
		if claims.Grows(pl).Yes() && len(pl.Volume.Waiting()) == 0 { // the volume goes on as it is
			p.Severity = report.Degraded
		}
		if name != "" {
			p.Steps = append(p.Steps, remedy.Check("See the configuration that the driver reads, and when its pods were started: one that started before it was filled wants a restart.",
				remedy.Kubectl("-n", ns, "get", "configmap", name, "-o", "yaml"), remedy.Kubectl("-n", ns, "get", "pods", "-o", "wide")))
		}
		p.Steps = append(p.Steps, remedy.Words("Put the missing entry into the driver's configuration, or name one that is there: in a new class and, for data that exist, in a new PV for the same handle (attributes cannot be changed; set the policy of the old one to Retain before it is removed). Where an operator writes this ConfigMap (Rook, the Ceph-CSI operator) look at its object and log, it overwrites what is edited by hand. After a Ceph cluster was made anew under another id the driver maps old ids in cluster-mapping.json."))
		return []*diagnosis.Proof{p}
	},
}
