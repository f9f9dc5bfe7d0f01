package claims

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// BindCompleted is written when claim and volume have found each other. Before that a
// claim may name a volume that has yet to be made.
const BindCompleted = "pv.kubernetes.io/bind-completed"

// WasBound asks whether a claim was bound to the volume that it names.
func WasBound(c *corev1.PersistentVolumeClaim) evidence.Answer {
	phase := c.Status.Phase
	return evidence.When(c.Spec.VolumeName != "" && (phase == corev1.ClaimLost || phase == corev1.ClaimBound || c.Annotations[BindCompleted] != ""),
		evidence.FromAPI(Object(c), "spec.volumeName", c.Spec.VolumeName),
		evidence.FromAPI(Object(c), "status.phase", string(phase)))
}

// Nameless asks whether a claim that counts as bound names no volume: somebody wrote it with the annotation, as from a backup, or took the
// name out. The controller calls it Lost and looks for no volume (syncBoundClaim in pv_controller.go).
func Nameless(c *corev1.PersistentVolumeClaim) evidence.Answer {
	return evidence.When(c.Spec.VolumeName == "" && c.Status.Phase == corev1.ClaimLost && c.Annotations[BindCompleted] != "",
		evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)),
		evidence.FromAPI(Object(c), "spec.volumeName", "none"),
		evidence.FromAPI(Object(c), "metadata.annotations["+BindCompleted+"]", c.Annotations[BindCompleted]))
}

// NoVolume asks whether no PersistentVolume has the name that a claim is bound to.
func NoVolume(x *snapshot.Index, c *corev1.PersistentVolumeClaim) evidence.Answer {
	if x.PV(c.Spec.VolumeName) != nil {
		return evidence.No()
	}
	return evidence.Resource(x, "/persistentvolumes").Nothing(evidence.FromAPI("PersistentVolume "+c.Spec.VolumeName, "", "not found"))
}

// SaidLost asks whether the volume controller or the scheduler says that the volume of a
// claim is gone.
func SaidLost(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	var facts []report.Evidence
	if c.Status.Phase == corev1.ClaimLost {
		facts = append(facts, evidence.FromAPI(Object(c), "status.phase", string(c.Status.Phase)))
	}
	facts = append(facts, pl.Texts.Say(func(t evidence.Text) bool {
		return t.Reason == "ClaimLost" || t.Fresh && strings.Contains(t.Raw, "bound to non-existent") && strings.Contains(t.Raw, c.Spec.VolumeName)
	}).Facts()...)
	return evidence.Reading{}.Found(facts...)
}

// Survivor says what is known of the storage behind a PersistentVolume that is gone.
func Survivor(pl *evidence.Place) (words string, fact report.Evidence) {
	if lh := pl.Volume.LH(); lh != nil {
		return fmt.Sprintf("The Longhorn volume %s that belonged to it still exists (%s, %s, made %s ago).", lh.Name, lh.Status.State, lh.Status.Robustness,
				report.Duration(int64(pl.X.Age(lh.CreationTimestamp.Time).Seconds()))),
			evidence.FromAPI("volumes.longhorn.io "+lh.Name, "status", fmt.Sprintf("pvName %s, state %s, robustness %s", lh.Status.Kubernetes.PVName, lh.Status.State, lh.Status.Robustness))
	}
	switch driver := snapshot.ProvisionerOf(pl.Volume.Claim); {
	case driver == snapshot.LonghornDriver && evidence.Resource(pl.X, "longhorn.io/volumes").Complete():
		return "No Longhorn volume says that it belonged to it.", fact
	case driver != "":
		return "Its provisioner was " + driver + "; whether the volume survives there no object of the cluster tells.", fact
	}
	return "Whether the volume survives in its backend no object of the cluster tells.", fact
}
