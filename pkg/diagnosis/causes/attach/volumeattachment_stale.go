package attach

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeAttachmentStale finds an attachment to a Ready node on which nothing uses
// the volume while a pod waits for it elsewhere. It is what is left when nothing
// else explains the attachment.
var VolumeAttachmentStale = &diagnosis.Rule{
	Name: "volumeattachment-stale", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	LeadsTo:  []string{"attach-limit-exceeded"},
	Residual: []diagnosis.Layer{diagnosis.Claim, diagnosis.Attach, diagnosis.Longhorn, diagnosis.Mount, diagnosis.Device, diagnosis.Transport, diagnosis.Filesystem},
	Offers:   []string{"delete-volumeattachment"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := []*diagnosis.Proof{diagnosis.Rest(holder.Open(pl, "storage.k8s.io/volumeattachments"))}
		for _, va := range pl.Volume.Attachments {
			out = append(out, staleAttachment(pl, va))
		}
		return out
	},
}

func staleAttachment(pl *evidence.Place, va *storagev1.VolumeAttachment) *diagnosis.Proof {
	v, on := pl.Volume, va.Spec.NodeName
	waiters, left := holder.LeftOver(pl.X, v, va)
	if !left.Yes() {
		return nil
	}
	looked, unused := holder.Unused(pl.X, v, on)
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name),
		With: words.Fields{"va": va.Name, "volume": volume.Name(v), "node": on, "age": pods.Ago(pl.X, va.CreationTimestamp.Time), "looked": looked, "denied": "", "deleting": "",
			"waiter": pods.Name(waiters[0]), "where": waiters[0].Spec.NodeName},
		State: []evidence.Answer{left, volume.NotInUse(pl.X, v, on), node.Ready(pl.X, on), holder.NoneLives(pl.X, v, on)},
		Last:  []evidence.Answer{unused, holder.OnlyTicket(pl.X, v, va), holder.NotAsked(va)},
		Steps: []remedy.Step{remedy.SidecarLog(pl.X, v, "attach", "Look into the log of the driver's csi-attacher for "+va.Name+": it says why the detach was not tried or not finished.")},
	}
	p.Attachment(va)
	p.At(on)
	p.Pods(waiters...)
	if d := va.DeletionTimestamp; d != nil {
		p.With["deleting"] = pods.Ago(pl.X, d.Time)
	}
	switch {
	case holder.Denied(va).Yes(): // deleted it is already
		p.With["denied"] = "says"
		p.Steps = append(p.Steps, remedy.Words("The attacher ends the object as soon as its driver takes that answer for done: update the driver, or ask its vendor. Node "+on+" is Ready, so leave the finalizer alone until the backend itself shows that the disk is attached nowhere."))
	case evidence.All(append(p.Last, p.State...)...).Yes():
		p.Steps = append(p.Steps, remedy.DeleteVolumeAttachment(va, v))
	default:
		p.Steps = append(p.Steps, remedy.Words("Before the attachment is removed, check on node "+on+" that no mount namespace mounts the volume and that no map, holder or process keeps its device."))
	}
	return p
}
