package attach

import (
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	kubelet "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumeAttachmentDetachLoop finds an attachment that goes away for ever on the very node
// on which its volume is wanted.
var VolumeAttachmentDetachLoop = &diagnosis.Rule{
	Name: "volumeattachment-detach-loop", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Attaching, diagnosis.Detaching},
	Residual: []diagnosis.Layer{diagnosis.Claim, diagnosis.Attach, diagnosis.Longhorn, diagnosis.Mount, diagnosis.Device, diagnosis.Transport, diagnosis.Filesystem},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, va := range pl.Volume.Attachments {
			if goes := csi.GoesFor(pl.X, va, 5*time.Minute); goes.Yes() {
				out = append(out, detachLoop(pl, va, goes))
			}
		}
		return out
	},
}

func detachLoop(pl *evidence.Place, va *storagev1.VolumeAttachment, goes evidence.Answer) *diagnosis.Proof {
	node := va.Spec.NodeName
	p := &diagnosis.Proof{
		Subject: diagnosis.ObjectSubject("VolumeAttachment", "", va.Name),
		With:    words.Fields{"va": va.Name, "node": node, "volume": pl.Volume.PVName(), "error": "", "how": "and nobody says what keeps it"},
		State:   []evidence.Answer{csi.DetachFails(pl.X, va), goes, csi.WantedOn(pl, node), kubelet.Ready(pl.X, node)}, // the driver's words are shown first
		Last:    []evidence.Answer{kubelet.Renews(pl.X, node)},
		Hint:    csi.RefusedWhileGoing(pl, node),
		Steps: []remedy.Step{
			remedy.Check("See why the detach fails; what it says is what must be cured. The volume is attached anew by itself afterwards.",
				remedy.Kubectl("get", "volumeattachment", va.Name, "-o", "jsonpath={.status.detachError}")),
			remedy.Words("While the pod is made again and again on node " + node + ", scale its workload to 0 until the attachment is gone. Leave the finalizer alone: the node works, and the storage would detach the volume below its next user."),
		},
	}
	if e := va.Status.DetachError; e != nil {
		p.With["error"], p.With["how"] = e.Message, "and its detach fails again and again"
	} else {
		p.Steps[0] = remedy.SidecarLog(pl.X, pl.Volume, "detach", "See what the attacher says of it, or whether it tries at all. The volume is attached anew by itself once this attachment is gone.")
	}
	p.Object("va", va.Name)
	p.At(node)
	return p
}
