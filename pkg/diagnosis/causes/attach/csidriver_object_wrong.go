package attach

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// CSIDriverObjectWrong finds a driver whose CSIDriver object is missing or says too little, so
// that Kubernetes asks for an attach which nobody serves, or makes no volume of a pod's own.
var CSIDriverObjectWrong = &diagnosis.Rule{
	Name: "csidriver-object-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Publishing},
	Offers:   []string{"delete-volumeattachment"},
	YieldsTo: []string{"driver-not-installed"},
	Asks:     diagnosis.EachVolume | diagnosis.EachPod,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if pl.Pod != nil {
			return evidence.Each(csi.Inline(pl), func(i csi.InlineUse) *diagnosis.Proof { return inlineRefused(pl, i) })
		}
		v, none, out := pl.Volume, csi.NoObject(pl.X, pl.Volume.Driver), []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "storage.k8s.io/volumeattachments"))}
		if v.PV != nil && v.PV.Spec.CSI != nil && !none.No() {
			for _, va := range v.Attachments {
				out = append(out, driverObject(pl, va, none))
			}
		}
		return out
	},
}

func driverObject(pl *evidence.Place, va *storagev1.VolumeAttachment, none evidence.Answer) *diagnosis.Proof {
	driver, on := pl.Volume.Driver, va.Spec.NodeName
	waiters := holder.WaitersOn(pl.Volume, on)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("CSIDriver", "", driver), Says: "attach",
		With: words.Fields{"driver": driver, "volume": volume.Name(pl.Volume), "va": va.Name, "node": on, "age": pods.Ago(pl.X, va.CreationTimestamp.Time),
			"similar": words.List(csi.Similar(pl.X, driver), 3)},
		State: []evidence.Answer{csi.Pending(pl.X, va, 2*time.Minute).With(pods.States(waiters)...), none, csi.Listed(pl.X, on, driver)},
		Last:  []evidence.Answer{csi.NoAttacher(pl.X, driver), csi.NeverAttached(pl.X, driver)},
		Steps: []remedy.Step{
			remedy.Words("Create the CSIDriver object " + driver + " again with the spec of the driver's release (attachRequired, fsGroupPolicy, podInfoOnMount). attachRequired cannot be changed later: delete the object and create it."),
			remedy.Words("Then remove the pending attachments of this driver, which were never made, after a look that no node mounts their volumes."),
		},
	}
	p.Attachment(va)
	p.At(on)
	p.Pods(waiters...)
	return p
}

func inlineRefused(pl *evidence.Place, i csi.InlineUse) *diagnosis.Proof {
	otherwise := map[string]string{"Ephemeral": "does not know such volumes needs a claim instead", "Persistent": "knows none is named in the pod itself (spec.volumes[].csi), not in a PersistentVolume"}
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("CSIDriver", "", i.Driver), Says: i.Says,
		With:  words.Fields{"driver": i.Driver, "volume": i.Volume, "pod": pods.Name(pl.Pod), "modes": i.Modes, "similar": words.List(csi.Similar(pl.X, i.Driver), 3)},
		State: []evidence.Answer{i.Refused.With(pods.States([]*corev1.Pod{pl.Pod})...), csi.Listed(pl.X, pl.Node, i.Driver)},
		Steps: []remedy.Step{remedy.Words("Give CSIDriver " + i.Driver + " the spec of the driver's release, where volumeLifecycleModes lists " + i.Wants + " (delete the object and create it). A driver that " + otherwise[i.Wants] + ". The kubelet tries again by itself.")},
	}
	if i.Says == "empty" {
		p.AtMost, p.With["node"] = report.Likely, pl.Node
		p.Steps = []remedy.Step{
			remedy.Check("See the object, and which versions the nodes have.", remedy.Kubectl("get", "csidriver", i.Driver, "-o", "yaml"), remedy.Kubectl("get", "nodes", "-o", "wide")),
			remedy.Words("A kubelet must not be newer than the API server: upgrade the API servers, or take node " + pl.Node + " back to their version. Then CSIDriver " + i.Driver + " has volumeLifecycleModes: [Persistent] by default. Nodes whose kubelet is no newer can run the pod meanwhile."),
		}
	}
	p.Pods(pl.Pod)
	return p
}
