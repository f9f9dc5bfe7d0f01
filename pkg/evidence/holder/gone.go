package holder

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SourceOf is the PersistentVolume that an attachment names; none for an inline source.
func SourceOf(va *storagev1.VolumeAttachment) string {
	if name := va.Spec.Source.PersistentVolumeName; name != nil {
		return *name
	}
	return ""
}

// Orphaned are the attachments, of one node or of all, whose PersistentVolume is not there.
func Orphaned(x *snapshot.Index, node string) []*storagev1.VolumeAttachment {
	return evidence.Keep(x.Cluster.Attachments, func(va *storagev1.VolumeAttachment) bool {
		name := SourceOf(va)
		return name != "" && x.PV(name) == nil && (node == "" || va.Spec.NodeName == node)
	})
}

// VolumeGone asks whether the PersistentVolume of an attachment does not exist.
func VolumeGone(x *snapshot.Index, va *storagev1.VolumeAttachment) evidence.Answer {
	name := SourceOf(va)
	if name == "" || x.PV(name) != nil {
		return evidence.No()
	}
	facts := []report.Evidence{AttachedFact(va), evidence.FromAPI("VolumeAttachment "+va.Name, "spec.source.persistentVolumeName", name),
		evidence.FromAPI("PersistentVolumes", "", "collected; none is named "+name)}
	if e := va.Status.DetachError; e != nil {
		facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.detachError.message", e.Message))
	}
	return evidence.Resource(x, "/persistentvolumes").Nothing(append(facts, attacherSaid(x, va)...)...)
}

// attacherSaid quotes the newest line of a log that names the attachment and says that its
// volume cannot be had.
func attacherSaid(x *snapshot.Index, va *storagev1.VolumeAttachment) []report.Evidence {
	for l := range evidence.Lines(evidence.Vouched(x)) {
		if _, said, named := strings.Cut(l.Text, va.Name); named && evidence.ContainsAny(said, "not found", "marked for deletion") {
			return []report.Evidence{l.Evidence()}
		}
	}
	return nil
}

// KeepsVolume asks whether a PV waits for the attacher's finalizer while an attachment
// that was never made keeps the attacher from removing it. One that a claim is bound to waits for that.
func KeepsVolume(pv *corev1.PersistentVolume, va *storagev1.VolumeAttachment) evidence.Answer {
	attachers := slices.ContainsFunc(pv.Finalizers, func(f string) bool { return strings.HasPrefix(f, "external-attacher/") })
	protected := pv.Status.Phase == corev1.VolumeBound && slices.Contains(pv.Finalizers, "kubernetes.io/pv-protection")
	if pv.DeletionTimestamp == nil || va.Status.Attached || !attachers || protected {
		return evidence.No()
	}
	facts := []report.Evidence{AttachedFact(va), evidence.FromAPI("PersistentVolume "+pv.Name, "metadata.deletionTimestamp", pv.DeletionTimestamp.UTC().Format(time.RFC3339)),
		evidence.FromAPI("PersistentVolume "+pv.Name, "metadata.finalizers", strings.Join(pv.Finalizers, " "))}
	if e := va.Status.AttachError; e != nil {
		facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError.message", e.Message))
	}
	return evidence.Yes(facts...)
}
