package attach

import (
	_ "embed"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed volumeattachment_stale.md
var volumeAttachmentStaleDoc string

// detachBackoff is the longest pause between two tries of the external attacher
// (--retry-interval-max, 5 min): a younger leftover may go by itself.
const detachBackoff = 5 * time.Minute

// VolumeAttachmentStale finds an attachment to a Ready node on which nothing uses
// the volume while a pod waits for it elsewhere. It is what is left when nothing
// else explains the attachment.
var VolumeAttachmentStale = &diagnosis.Rule{
	Name: "volumeattachment-stale", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs: []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/nodes"), diagnosis.API("storage.k8s.io/volumeattachments"),
		diagnosis.Probe("mountns"), diagnosis.Probe("blockdev")},
	Explains: []string{"multi-attach-error", "pod-waiting-for-volume", "detach-stuck", "attach-failed"},
	LeadsTo:  []string{"attach-limit-exceeded"},
	Residual: []diagnosis.Layer{diagnosis.Claim, diagnosis.Attach, diagnosis.Longhorn, diagnosis.Mount, diagnosis.Device, diagnosis.Transport, diagnosis.Filesystem},
	Offers:   []string{"delete-volumeattachment"},
	Doc:      volumeAttachmentStaleDoc,
	Run:      staleAttachment,
}

func staleAttachment(p *diagnosis.Pass) {
	if !p.Collected("/nodes") || !p.Collected("/pods") {
		return // whether the node is Ready and free of pods is the whole point
	}
	for _, v := range p.Volumes() {
		if !v.Exclusive() {
			continue
		}
		for _, va := range v.Attachments {
			waiters := waitersAwayFrom(v, va.Spec.NodeName)
			if len(waiters) > 0 && leftOver(p, v, va, waiters) {
				judgeStale(p, v, va, waiters)
			}
		}
	}
}

// leftOver applies what the API can say: Ready node, no unfinished pod there, not in
// volumesInUse, older than the back-off, and no error that names another reason.
func leftOver(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment, waiters []*corev1.Pod) bool {
	node := va.Spec.NodeName
	switch {
	case v.UniqueName() == "": // volumesInUse cannot be searched without the handle
		return false
	case !va.Status.Attached, va.Status.DetachError != nil, !p.NodeReady(node).Ready:
		return false
	case len(unfinishedOn(v, node)) > 0, p.ReportedInUse(node, v):
		return false
	case p.Age(va.CreationTimestamp.Time) <= detachBackoff, p.Age(waiters[0].CreationTimestamp.Time) <= detachBackoff:
		return false
	}
	return onlyTicket(v, va)
}

// yieldingTicket is one that Longhorn interrupts when a workload wants the volume on
// another node: it keeps nobody waiting by itself.
func yieldingTicket(kind string) bool {
	return kind == "snapshot-controller" || kind == "backup-controller"
}

// onlyTicket tells whether Longhorn holds the volume for this attachment alone: with
// another ticket that does not yield the cause is the ticket.
func onlyTicket(v *snapshot.Volume, va *storagev1.VolumeAttachment) bool {
	if v.Longhorn == nil || v.Longhorn.Attachment == nil {
		return true
	}
	for _, t := range v.Longhorn.Attachment.Tickets {
		if t.ID != va.Name && t.NodeID == va.Spec.NodeName && !yieldingTicket(t.Type) {
			return false
		}
	}
	return true
}

// otherTicket names a ticket besides the attachment's own on its node.
func otherTicket(v *snapshot.Volume, va *storagev1.VolumeAttachment) string {
	if v.Longhorn == nil || v.Longhorn.Attachment == nil {
		return ""
	}
	for _, t := range v.Longhorn.Attachment.Tickets {
		if t.ID != va.Name && t.NodeID == va.Spec.NodeName {
			return t.ID
		}
	}
	return ""
}

func judgeStale(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment, waiters []*corev1.Pod) {
	node := va.Spec.NodeName
	f := p.Find(report.Certain, diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)).On(v).Located(node)
	f.Object("va", va.Name)
	f.Fact(attachedEvidence(va), diagnosis.FromAPI("Node "+node, "status.volumesInUse", "does not list "+v.UniqueName()))
	looked := "Whether the node still mounts or maps it was not checked"
	view, probed := p.Probed(node)
	if probed {
		u := useOn(p, v, view)
		if u.Used != "" {
			return // something holds the volume there: that is the cause
		}
		looked = "The node was looked at: " + u.Free
		f.Fact(u.Evidence...)
		for _, m := range u.Missing {
			f.Missing(m)
		}
	} else {
		f.Missing("that nothing on node " + node + " mounts, maps or holds the volume (the node was not probed)")
	}
	if id := otherTicket(v, va); id != "" {
		f.Missing("that Longhorn's ticket " + id + " ends when the volume is wanted elsewhere")
	}
	if va.DeletionTimestamp != nil {
		f.Missing("why the deletion of VolumeAttachment " + va.Name + " does not finish (the attacher says nothing)")
	}
	for _, w := range waiters {
		f.Pod(w)
		f.Fact(diagnosis.FromAPI(podFact(w)))
	}
	f.Sayf("VolumeAttachment %s has kept volume %s attached to node %s for %s, but no pod there uses it and the kubelet does not report it in use. %s. Meanwhile pod %s waits for it on node %s.",
		va.Name, volumeName(v), node, ago(p, va.CreationTimestamp.Time), looked, podName(waiters[0]), waiters[0].Spec.NodeName)
	f.Unless("a pod, mount, map, holder or open descriptor of the volume on node " + node)
	f.Advise(remedy.Words("Look into the log of the driver's csi-attacher for " + va.Name + ": it says why the detach was not tried or not finished."))
	if len(f.NotConfirmed) == 0 && probed {
		f.Advise(remedy.DeleteVolumeAttachment(va, v))
	} else {
		f.Advise(remedy.Words("Before the attachment is removed, check on node " + node + " that no mount namespace mounts the volume and that no map, holder or process keeps its device."))
	}
	p.Report(f)
}
