package attach

import (
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeAttachmentVolumeGone finds an attachment whose PV is missing or is kept
// from going by the attachment itself.
var VolumeAttachmentVolumeGone = &diagnosis.Rule{
	Name: "volumeattachment-volume-gone", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks: []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching, diagnosis.Deleting},
	Offers: []string{"delete-volumeattachment"},
	Asks:   diagnosis.EachVolume | diagnosis.EachSweep,
	Docs:   docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "storage.k8s.io/volumeattachments"))}
		if pl.Volume == nil {
			for _, va := range holder.Orphaned(pl.X, pl.Node) {
				out = append(out, withoutVolume(pl, va))
			}
			return out
		}
		for _, va := range pl.Volume.Attachments {
			if pl.Volume.PV == nil {
				out = append(out, withoutVolume(pl, va))
			} else if keeps := holder.KeepsVolume(pl.Volume.PV, va); !keeps.No() {
				out = append(out, keptVolume(pl, va, keeps))
			}
		}
		return out
	},
}

func withoutVolume(pl *evidence.Place, va *storagev1.VolumeAttachment) *diagnosis.Proof {
	pv, node := holder.SourceOf(va), va.Spec.NodeName
	p := &diagnosis.Proof{Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name), Says: "gone",
		With:  words.Fields{"va": va.Name, "node": node, "pv": pv, "age": pods.Deleting(pl.X, va), "finalizers": strings.Join(va.Finalizers, ", ")},
		State: []evidence.Answer{holder.VolumeGone(pl.X, va)},
		Steps: []remedy.Step{
			remedy.Words("Check first that node " + node + " neither mounts nor maps the volume of " + pv + ", and look in the storage backend of driver " + va.Spec.Attacher +
				" whether it is still attached there; detach it in the backend. Without this the volume leaks."),
			remedy.Words("Once the backend shows the volume attached to no running machine, take the attacher's finalizer off VolumeAttachment " + va.Name + "."),
		}}
	p.Attachment(va)
	p.At(node)
	return p
}

func keptVolume(pl *evidence.Place, va *storagev1.VolumeAttachment, keeps evidence.Answer) *diagnosis.Proof {
	pv := pl.Volume.PV
	p := &diagnosis.Proof{Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name), Says: "kept",
		With:  words.Fields{"va": va.Name, "node": va.Spec.NodeName, "pv": pv.Name, "age": pods.Deleting(pl.X, pv)},
		State: []evidence.Answer{keeps},
		Steps: []remedy.Step{remedy.DeleteVolumeAttachment(va, pl.Volume).Note("The attachment was never made, so that nothing is lost with its object. Do not take the PV's finalizers off first.")}}
	p.Attachment(va)
	p.At(va.Spec.NodeName)
	return p
}
