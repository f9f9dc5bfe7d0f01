package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed volumeattachment_volume_gone.md
var volumeAttachmentVolumeGoneDoc string

// VolumeAttachmentVolumeGone finds an attachment whose PV is missing or is kept
// from going by the attachment itself.
var VolumeAttachmentVolumeGone = &diagnosis.Rule{
	Name: "volumeattachment-volume-gone", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/persistentvolumes"), diagnosis.API("storage.k8s.io/volumeattachments")},
	Explains: []string{"detach-stuck", "attach-failed", "pod-waiting-for-volume"},
	Offers:   []string{"delete-volumeattachment"},
	Doc:      volumeAttachmentVolumeGoneDoc,
	Run:      volumeGone,
}

func volumeGone(p *diagnosis.Pass) {
	if !p.Collected("/persistentvolumes") {
		return
	}
	for _, va := range p.Cluster.Attachments {
		name := va.Spec.Source.PersistentVolumeName
		if name == nil || *name == "" {
			continue // an inline source has no PV
		}
		if pv := p.PV(*name); pv == nil {
			if asksAbout(p, va, *name) {
				reportNoPV(p, va, *name)
			}
		} else if v := p.VolumeOfPV(pv.Name); v != nil && p.InScope(v) && blocksPV(pv, va) {
			reportDeletedPV(p, v, va)
		}
	}
}

// asksAbout tells whether a question reaches an attachment that has no volume.
func asksAbout(p *diagnosis.Pass, va *storagev1.VolumeAttachment, pv string) bool {
	if p.Question.Kind == "cluster" || p.Question.Kind == "volume" && p.Question.Name == pv {
		return true
	}
	if p.Sweep() {
		return slices.Contains(p.Nodes(), va.Spec.NodeName)
	}
	for _, v := range p.Volumes() {
		if v.Claim != nil && v.Claim.Spec.VolumeName == pv {
			return true
		}
	}
	return false
}

// blocksPV tells whether a PV waits for the attacher's finalizer while an
// attachment that was never made keeps the attacher from removing it.
func blocksPV(pv *corev1.PersistentVolume, va *storagev1.VolumeAttachment) bool {
	return pv.DeletionTimestamp != nil && !va.Status.Attached && slices.ContainsFunc(pv.Finalizers, isAttacherFinalizer)
}

func isAttacherFinalizer(f string) bool { return strings.HasPrefix(f, "external-attacher/") }

func reportNoPV(p *diagnosis.Pass, va *storagev1.VolumeAttachment, pv string) {
	f := p.Find(report.Certain, diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)).Located(va.Spec.NodeName)
	f.Object("va", va.Name)
	for _, v := range p.Volumes() {
		if v.Claim != nil && v.Claim.Spec.VolumeName == pv {
			f.On(v)
		}
	}
	f.Fact(attachedEvidence(va),
		diagnosis.FromAPI("VolumeAttachment "+va.Name, "spec.source.persistentVolumeName", pv),
		diagnosis.FromAPI("PersistentVolumes", "", "collected; none is named "+pv))
	state := ""
	if va.DeletionTimestamp != nil {
		state = fmt.Sprintf(", and its deletion has been waiting for %s (finalizers %s)", ago(p, va.DeletionTimestamp.Time), strings.Join(va.Finalizers, ", "))
	}
	if e := va.Status.DetachError; e != nil {
		f.Fact(diagnosis.FromAPI("VolumeAttachment "+va.Name, "status.detachError.message", e.Message))
	}
	f.Fact(attacherLines(p, va)...)
	f.Sayf("VolumeAttachment %s (node %s) refers to PersistentVolume %s, which does not exist%s. The attacher needs the PV to detach, so it can never finish.",
		va.Name, va.Spec.NodeName, pv, state)
	f.Unless("a PersistentVolume named " + pv)
	f.Advise(remedy.Words(fmt.Sprintf("Check first that node %s neither mounts nor maps the volume of %s, and look in the storage backend of driver %s whether it is still attached there; detach it in the backend. "+
		"Without this the volume leaks.", va.Spec.NodeName, pv, va.Spec.Attacher)))
	f.Advise(remedy.Words(fmt.Sprintf("Once the backend shows the volume attached to no running machine, take the attacher's finalizer off VolumeAttachment %s.", va.Name)))
	p.Report(f)
}

var pvRefused = regexp.MustCompile(`not found|marked for deletion`)

// attacherLines quotes the newest lines of attacher logs that name the attachment.
func attacherLines(p *diagnosis.Pass, va *storagev1.VolumeAttachment) []report.Evidence {
	for _, log := range p.Logs {
		for i := len(log.Lines) - 1; i >= 0; i-- {
			if _, said, named := strings.Cut(log.Lines[i], va.Name); named && pvRefused.MatchString(said) {
				return []report.Evidence{{Source: "log", Locator: "logs/" + log.Namespace + "/" + log.Pod + "/" + log.Container, Text: log.Lines[i]}}
			}
		}
	}
	return nil
}

func reportDeletedPV(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) {
	pv, node := v.PV, va.Spec.NodeName
	f := p.Find(report.Certain, diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)).On(v).Located(node)
	f.Object("va", va.Name)
	f.Fact(attachedEvidence(va),
		diagnosis.FromAPI("PersistentVolume "+pv.Name, "metadata.deletionTimestamp", pv.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z")),
		diagnosis.FromAPI("PersistentVolume "+pv.Name, "metadata.finalizers", strings.Join(pv.Finalizers, " ")))
	if e := va.Status.AttachError; e != nil {
		f.Fact(diagnosis.FromAPI("VolumeAttachment "+va.Name, "status.attachError.message", e.Message))
	}
	f.Sayf("PersistentVolume %s has been waiting for its deletion for %s. VolumeAttachment %s (node %s) was never attached and cannot be any more, and as long as it exists the attacher keeps its finalizer on the PV: each waits for the other.",
		pv.Name, ago(p, pv.DeletionTimestamp.Time), va.Name, node)
	f.Unless("the PV not being deleted, or the attachment being attached")
	p.Probed(node)
	f.Advise(remedy.DeleteVolumeAttachment(va, v).Note("It was never made. Do not take the PV's finalizers off first."))
	p.Report(f)
}
