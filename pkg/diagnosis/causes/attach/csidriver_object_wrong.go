package attach

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed csidriver_object_wrong.md
var csiDriverObjectWrongDoc string

// CSIDriverObjectWrong finds a driver whose CSIDriver object is missing, so that
// Kubernetes asks for an attach which nobody serves.
var CSIDriverObjectWrong = &diagnosis.Rule{
	Name: "csidriver-object-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs: []diagnosis.Need{diagnosis.API("storage.k8s.io/csidrivers"), diagnosis.API("storage.k8s.io/csinodes"),
		diagnosis.API("storage.k8s.io/volumeattachments"), diagnosis.API("/pods")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "mount-failed"},
	Offers:   []string{"delete-volumeattachment"},
	YieldsTo: []string{"driver-not-installed"},
	Doc:      csiDriverObjectWrongDoc,
	Run:      csiDriverObject,
}

func csiDriverObject(p *diagnosis.Pass) {
	if !p.Collected("storage.k8s.io/csidrivers") {
		return
	}
	for _, v := range p.Volumes() {
		if !isCSI(v) || p.CSIDriver(v.Driver) != nil {
			continue
		}
		for _, va := range v.Attachments {
			if va.Status.Attached || va.Status.AttachError != nil || p.Age(va.CreationTimestamp.Time) <= settled {
				continue
			}
			if ok, known := p.HasDriver(va.Spec.NodeName, v.Driver); known && ok && noAttacher(p, v.Driver) {
				reportDriverObject(p, v, va)
			}
		}
	}
}

func noAttacher(p *diagnosis.Pass, driver string) bool {
	return len(p.SidecarPods(driver, "csi-attacher")) == 0 && len(p.SidecarWorkloads(driver, "csi-attacher")) == 0
}

func reportDriverObject(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) {
	f := p.Find(report.Certain, diagnosis.ObjectSubject("CSIDriver", "", v.Driver)).On(v).Located(va.Spec.NodeName)
	f.Object("va", va.Name)
	f.Fact(attachedEvidence(va), diagnosis.FromAPI("CSIDrivers", "", "collected; none is named "+v.Driver),
		diagnosis.FromAPI("CSINode "+va.Spec.NodeName, "spec.drivers", v.Driver),
		diagnosis.FromAPI("Pods", "", "none that was read runs a csi-attacher for "+v.Driver))
	if everAttached(p, v.Driver) {
		f.Missing("that no attachment of the driver was ever made (some are attached)")
	}
	for _, w := range waitersOn(v, va.Spec.NodeName) {
		f.Pod(w)
		f.Fact(diagnosis.FromAPI(podFact(w)))
	}
	like := ""
	if names := similarDrivers(p, v.Driver); len(names) > 0 {
		like = " There is a CSIDriver with a similar name: " + strings.Join(names, ", ") + "."
	}
	f.Sayf("No CSIDriver object is named %s, the driver of volume %s, so Kubernetes takes the default attachRequired true and waits for VolumeAttachment %s (%s old, not attached, no error). "+
		"The driver is registered on node %s, but no csi-attacher serves it: nobody will ever attach.%s",
		v.Driver, volumeName(v), va.Name, ago(p, va.CreationTimestamp.Time), va.Spec.NodeName, like)
	f.Unless("a CSIDriver named " + v.Driver + ", or a csi-attacher that serves it")
	f.Advise(remedy.Words(fmt.Sprintf("Create the CSIDriver object %s again with the spec of the driver's release (attachRequired, fsGroupPolicy, podInfoOnMount). attachRequired cannot be changed later: delete the object and create it.", v.Driver)))
	f.Advise(remedy.Words("Then remove the pending attachments of this driver, which were never made, after a look that no node mounts their volumes."))
	p.Report(f)
}

// everAttached tells whether some attachment of the driver was made.
func everAttached(p *diagnosis.Pass, driver string) bool {
	return slices.ContainsFunc(p.Cluster.Attachments, func(a *storagev1.VolumeAttachment) bool {
		return a.Spec.Attacher == driver && a.Status.Attached
	})
}

// similarDrivers are the CSIDriver objects whose names differ only in punctuation,
// case or a part: what a rename leaves.
func similarDrivers(p *diagnosis.Pass, driver string) []string {
	var out []string
	want := snapshot.Plain(driver)
	for _, d := range p.Cluster.CSIDrivers {
		if have := snapshot.Plain(d.Name); have == want || strings.Contains(have, want) || strings.Contains(want, have) {
			out = append(out, d.Name)
		}
	}
	return out
}
