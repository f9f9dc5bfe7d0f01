package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// DriverNotInstalled finds a volume whose CSI driver the cluster does not have, and somebody needs it:
// a pod that waits, or the volume's end.
var DriverNotInstalled = &diagnosis.Rule{
	Name: "driver-not-installed", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting, diagnosis.Detaching, diagnosis.Deleting},
	Asks:   diagnosis.EachVolume,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		driver := pl.Volume.CSIName()
		installed := csi.Installed(pl.X, driver)
		if driver == "" || pl.Volume.PV == nil || installed.Yes() {
			return nil
		}
		only, owed := csi.Owed(pl)
		renamed := "When the driver was replaced by one of another name that can read the volume: set the reclaim policy of the PV to Retain, then make a new PV for the same handle under the new driver. The driver of a PV cannot be changed."
		own := "" // one that is written into a pod has no PersistentVolume of its own
		if pl.Volume.PVName() == "" {
			own, renamed = pl.Volume.Spoken(), "When the driver was replaced by one of another name: name that one in the volumes of the workload's pod template, and let it make new pods."
		}
		return []*diagnosis.Proof{{
			Subject:    diagnosis.ObjectSubject("CSIDriver", "", driver),
			With:       words.Fields{"driver": driver, "pv": pl.Volume.PVName(), "own": own, "only": only, "similar": words.List(csi.Similar(pl.X, driver), 3)},
			State:      []evidence.Answer{evidence.Not(csi.Known(pl.X, driver)), evidence.Any(csi.Wanted(pl), owed)},
			Last:       []evidence.Answer{evidence.Not(installed)},
			LookAlikes: []diagnosis.LookAlike{{Cause: "a driver outside of what was read", Is: csi.Answered(pl)}},
			Steps: []remedy.Step{
				remedy.Check("Install driver "+driver+", or find out under which name it runs now.",
					remedy.Kubectl("get", "csidriver"),
					remedy.Kubectl("get", "csinode", "-o", "custom-columns=NODE:.metadata.name,DRIVERS:.spec.drivers[*].name")),
				remedy.Words(renamed),
			},
		}}
	},
}
