package claim

import (
	_ "embed"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed claim_lost_volume.md
var claimLostVolumeDoc string

// ClaimLostVolume finds a claim that was bound to a PV object which is gone.
var ClaimLostVolume = &diagnosis.Rule{
	Name: "claim-lost-volume", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/persistentvolumes"), diagnosis.API("/persistentvolumeclaims")},
	Explains: []string{"pod-waiting-for-volume", "attach-failed", "mount-failed", "claim-pending"},
	LeadsTo:  []string{"volumeattachment-volume-gone"},
	Doc:      claimLostVolumeDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Claim != nil && lost(p, v.Claim) {
				lostVolume(p, v)
			}
		}
	},
}

// bindCompleted is written when claim and volume have found each other. Before that a
// claim may name a volume that has yet to be made.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// lost tells whether a claim was bound to a volume and its PV is not there. With the PV
// in place the phase Lost has another reason: the PV belongs to another claim.
func lost(p *diagnosis.Pass, c *corev1.PersistentVolumeClaim) bool {
	if c.Spec.VolumeName == "" || p.PV(c.Spec.VolumeName) != nil {
		return false
	}
	if c.Status.Phase == corev1.ClaimLost {
		return true
	}
	return c.Annotations[bindCompleted] != "" && p.Collected("/persistentvolumes")
}

func lostVolume(p *diagnosis.Pass, v *snapshot.Volume) {
	c := v.Claim
	object := "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	f.Fact(
		diagnosis.FromAPI(object, "spec.volumeName", c.Spec.VolumeName),
		diagnosis.FromAPI(object, "status.phase", string(c.Status.Phase)),
	)
	if p.Collected("/persistentvolumes") {
		f.Fact(diagnosis.FromAPI("PersistentVolume "+c.Spec.VolumeName, "", "not found"))
	}
	for _, t := range p.Texts(v) {
		if t.Reason == "ClaimLost" {
			f.Fact(t.Evidence())
			break
		}
	}
	for _, va := range v.Attachments {
		f.Object("va", va.Name)
	}
	f.Sayf("Claim %s/%s (%s) is bound to the volume %s, and no PersistentVolume of that name exists any more. What is gone for certain is the object; this says nothing of the data.%s",
		c.Namespace, c.Name, c.Status.Phase, c.Spec.VolumeName, survivor(p, v, f))
	f.Unless("a PersistentVolume of this name")
	f.Advise(
		remedy.Words(fmt.Sprintf("Keep the claim: while it exists its uid and the name %s tell what belonged to it. Look in the storage backend whether the volume itself survives (it is gone when the PersistentVolume was deleted with the reclaim policy Delete).", c.Spec.VolumeName)),
		remedy.Words(fmt.Sprintf("If it survives, make the PersistentVolume anew with the same name %s, the same driver and volume handle, the policy Retain, and a claimRef to %s/%s with uid %s. The controller then binds the two again; the phase becomes Bound.",
			c.Spec.VolumeName, c.Namespace, c.Name, c.UID)),
	)
	p.Report(f)
}

// survivor says what is known of the volume behind the object.
func survivor(p *diagnosis.Pass, v *snapshot.Volume, f *diagnosis.Finding) string {
	if lh := v.LH(); lh != nil {
		f.Fact(diagnosis.FromAPI("volumes.longhorn.io "+lh.Name, "status", fmt.Sprintf("pvName %s, state %s, robustness %s", lh.Status.Kubernetes.PVName, lh.Status.State, lh.Status.Robustness)))
		return fmt.Sprintf(" The Longhorn volume %s that belonged to it still exists (%s, %s, made %s ago).", lh.Name, lh.Status.State, lh.Status.Robustness, since(p, lh.CreationTimestamp.Time))
	}
	driver := provisionerOf(v.Claim)
	switch {
	case driver == snapshot.LonghornDriver && p.Collected("longhorn.io/volumes"):
		return " No Longhorn volume says that it belonged to it."
	case driver != "":
		return " Its provisioner was " + driver + "; whether the volume survives there no object of the cluster tells."
	}
	return " Whether the volume survives in its backend no object of the cluster tells."
}
