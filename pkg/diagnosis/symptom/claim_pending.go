package symptom

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/helper"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// claimPending: a claim has no volume, lost it, or does not go away: it or its volume
// has been deleted and is still there, whoever holds it.
var claimPending = &diagnosis.SymptomRule{Name: "claim-pending", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		goingLonghorn(p, v)
		lostLonghorn(p, v)
		if v.Claim == nil {
			goingPV(p, v)
			continue
		}
		why := unbound(p, v)
		if why == "" {
			continue
		}
		s := onVolume(v, why)
		s.Follows = claims.WaitsForConsumer(&evidence.Place{X: p.Index, Volume: v}).Yes() && !failedToProvision(p, v)
		if d := v.Claim.DeletionTimestamp; d != nil && len(v.Waiting()) == 0 && p.Age(d.Time) < released && len(v.Claim.Finalizers) > 0 {
			s.Pending = fmt.Sprintf("%s is being deleted since %s, which is not long yet. It goes when its finalizers are taken off: %s.", capital(name(v)), evidence.Duration(p.Age(d.Time)), strings.Join(v.Claim.Finalizers, ", "))
		}
		if pod := overdue(p, v); pod != nil {
			s.Pending = fmt.Sprintf("%s is being deleted. It goes when %s has gone, which should have ended.", capital(name(v)), podName(pod))
		}
		if words := beingMadeBy(p, v); words != "" {
			s.Pending = words
		}
		s.Evidence = append(s.Evidence, claimState(v)...)
		texts := slices.Clone(p.Texts(v))
		slices.SortStableFunc(texts, func(a, b diagnosis.Text) int { return asked(a) - asked(b) })
		for _, t := range texts {
			if t.Pod == "" && t.Source == "event" && len(s.Evidence) < 3 && !is(t, message.WaitFirstConsumer) {
				s.Evidence = append(s.Evidence, t.Evidence())
			}
		}
		p.AddSymptom(s)
	}
	refusedClaims(p)
}}

// overdue is a pod that keeps a deleted claim and was told to end long ago (pod-stuck-terminating); nobody waits for the claim.
func overdue(p *diagnosis.Pass, v *snapshot.Volume) *corev1.Pod {
	if v.Claim.DeletionTimestamp == nil || len(v.Waiting()) > 0 {
		return nil
	}
	for _, c := range v.Live() {
		if evpods.Overdue(p.Index, c.Pod) {
			return c.Pod
		}
	}
	return nil
}

// beingMadeBy says that a helper of the provisioner makes the volume of a claim since a moment ago, however old the claim is.
func beingMadeBy(p *diagnosis.Pass, v *snapshot.Volume) string {
	if pod := helper.AtWork(&evidence.Place{X: p.Index, Volume: v, Texts: p.Texts(v)}); pod != nil {
		return fmt.Sprintf("The provisioner makes %s since %s, in helper pod %s.", name(v), evidence.Duration(p.Age(pod.CreationTimestamp.Time)), podName(pod))
	}
	return ""
}

// allBeingMade says so of all volumes for which a pod waits.
func allBeingMade(p *diagnosis.Pass, i involved) string {
	out := ""
	for _, v := range i.volumes {
		if v.Claim == nil || v.Claim.Status.Phase == corev1.ClaimBound {
			continue
		}
		if out = beingMadeBy(p, v); out == "" {
			return ""
		}
	}
	return out
}

// asked puts the standing notice that a provisioner is asked (persistentvolume-controller) behind what
// that one said itself.
func asked(t diagnosis.Text) int {
	if is(t, message.WaitExternalProvision) {
		return 1
	}
	return 0
}

// goingPV: a PV without a claim that is to be deleted and does not go.
func goingPV(p *diagnosis.Pass, v *snapshot.Volume) {
	if v.PV == nil {
		return
	}
	if v.PV.DeletionTimestamp == nil {
		keptPV(p, v)
		return
	}
	age := p.Age(v.PV.DeletionTimestamp.Time)
	if age <= lingers {
		return
	}
	s := onVolume(v, fmt.Sprintf("Volume %s is being deleted since %s and is still there.", v.PV.Name, evidence.Duration(age)))
	s.Subject = diagnosis.ObjectSubject("PersistentVolume", "", v.PV.Name)
	s.Evidence = append(s.Evidence, evidence.FromAPI("PersistentVolume "+v.PV.Name, "metadata.deletionTimestamp", v.PV.DeletionTimestamp.UTC().Format(time.RFC3339)))
	s.Evidence = append(s.Evidence, undeleted(p, v)...)
	for _, va := range v.Attachments { // what keeps it from being detached keeps it
		s.Object("va", va.Name)
		s.At(va.Spec.NodeName)
		s.Evidence = append(s.Evidence, evidence.FromAPI("VolumeAttachment "+va.Name, "spec.nodeName", va.Spec.NodeName))
		s.Shows = []string{"detach-stuck"}
	}
	p.AddSymptom(s)
}

// undeleted are the fresh words of who shall delete or empty a volume and could not.
func undeleted(p *diagnosis.Pass, v *snapshot.Volume) (out []report.Evidence) {
	for _, t := range p.Texts(v) {
		if t.Fresh && t.Deletes() && t.Source == "event" && len(out) < 2 {
			out = append(out, t.Evidence())
		}
	}
	return out
}

// goingLonghorn: Longhorn's own object of a volume is to be deleted and does not go, while no
// PersistentVolume goes with it. Of what it owns, a snapshot can hold it (longhorn/longhorn#4278).
func goingLonghorn(p *diagnosis.Pass, v *snapshot.Volume) {
	lh := v.LH()
	if lh == nil || lh.DeletionTimestamp == nil || v.PV != nil && v.PV.DeletionTimestamp != nil || p.Age(lh.DeletionTimestamp.Time) <= reclaimed {
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn volume %s is being deleted since %s and is still there.", lh.Name, evidence.Duration(p.Age(lh.DeletionTimestamp.Time))))
	s.Subject = diagnosis.ObjectSubject("Volume", lh.Namespace, lh.Name)
	object := "Volume " + lh.Name
	s.Evidence = append(s.Evidence, evidence.FromAPI(object, "metadata.deletionTimestamp", lh.DeletionTimestamp.UTC().Format(time.RFC3339)),
		evidence.FromAPI(object, "metadata.finalizers", strings.Join(lh.Finalizers, " ")))
	for _, n := range p.Cluster.Longhorn.Snapshots {
		if n.Labels["longhornvolume"] == lh.Name && n.DeletionTimestamp != nil {
			s.Evidence = append(s.Evidence, evidence.FromAPI("Snapshot "+n.Name, "metadata.deletionTimestamp", strings.TrimSpace(n.DeletionTimestamp.UTC().Format(time.RFC3339)+" "+n.Error)))
			break
		}
	}
	p.AddSymptom(s)
}

// lostLonghorn: Longhorn does not have the volume that a PersistentVolume names: it was deleted
// there, or the handle of a static one names none. Who waits for it is told so by an attachment; one that was released
// is nobody's any more.
func lostLonghorn(p *diagnosis.Pass, v *snapshot.Volume) {
	known := len(p.Cluster.Longhorn.Nodes) > 0 && p.Collected("longhorn.io/volumes")
	if !known || v.PV == nil || v.PV.Status.Phase == corev1.VolumeReleased || !v.IsLonghorn() || v.LH() != nil || len(v.Live()) > 0 || v.PV.DeletionTimestamp != nil || p.Age(v.PV.CreationTimestamp.Time) <= reclaimed {
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn does not have the volume of %s.", name(v)))
	s.Subject = diagnosis.ObjectSubject("PersistentVolume", "", v.PV.Name)
	s.Evidence = append(s.Evidence, evidence.FromAPI("PersistentVolume "+v.PV.Name, "spec.csi.volumeHandle", v.Handle), evidence.FromAPI("Volume "+v.Handle, "", "not found"))
	p.AddSymptom(s)
}

// keptPV: the claim is gone, and the volume should go with it and does not. Only an
// in-tree plugin's failure is in the phase (Failed); external-provisioner says it in an
// event, and deletes the PV when its volume is gone (lib-external-provisioner).
func keptPV(p *diagnosis.Pass, v *snapshot.Volume) {
	pv, policy := v.PV, v.PV.Spec.PersistentVolumeReclaimPolicy
	facts := []report.Evidence{evidence.FromAPI("PersistentVolume "+pv.Name, "status.phase", string(pv.Status.Phase))}
	if pv.Status.Message != "" {
		facts = append(facts, evidence.FromAPI("PersistentVolume "+pv.Name, "status.message", pv.Status.Message))
	}
	said := undeleted(p, v)
	refused, facts := pv.Status.Phase == corev1.VolumeFailed || len(said) > 0, append(facts, said...)
	since := pv.Status.LastPhaseTransitionTime
	long := since != nil && p.Age(since.Time) > reclaimed || since == nil && p.Question.Kind == "volume" // Kubernetes before 1.28 tells no time: who asks about it has waited
	kept := long && pv.Status.Phase == corev1.VolumeReleased
	attached := len(v.Attachments) > 0 // then it is the detachment that it waits for
	if !refused && !kept || attached || policy == corev1.PersistentVolumeReclaimRetain {
		return
	}
	s := onVolume(v, fmt.Sprintf("Volume %s is not %sd although its claim is gone and its reclaim policy is %[3]s.", pv.Name, strings.ToLower(string(policy)), policy))
	s.Subject = diagnosis.ObjectSubject("PersistentVolume", "", pv.Name)
	s.Evidence = append(s.Evidence, facts...)
	p.AddSymptom(s)
}

// reclaimed is how long the deletion of a released volume may take: it has to be detached
// first.
const reclaimed = 10 * time.Minute

// released is how long the owners of a claim's finalizers may take to let it go.
const released = 5 * time.Minute

// lingers is how long a deletion may take before it counts as held up.
const lingers = time.Minute

// claimState is what the API says of a claim and of the deletion of it or its volume.
func claimState(v *snapshot.Volume) []report.Evidence {
	object := "PersistentVolumeClaim " + v.Claim.Namespace + "/" + v.Claim.Name
	out := []report.Evidence{evidence.FromAPI(object, "status.phase", string(v.Claim.Status.Phase))}
	deleted := func(object string, m *metav1.ObjectMeta) {
		if m.DeletionTimestamp != nil {
			out = append(out, evidence.FromAPI(object, "metadata.deletionTimestamp", m.DeletionTimestamp.UTC().Format(time.RFC3339)),
				evidence.FromAPI(object, "metadata.finalizers", strings.Join(m.Finalizers, " ")))
		}
	}
	deleted(object, &v.Claim.ObjectMeta)
	if v.PV != nil {
		deleted("PersistentVolume "+v.PV.Name, &v.PV.ObjectMeta)
	}
	return out
}

func unbound(p *diagnosis.Pass, v *snapshot.Volume) string {
	claim := v.Claim
	who := capital(name(v))
	if d := claim.DeletionTimestamp; d != nil && len(v.Waiting()) > 0 {
		return fmt.Sprintf("%s is being deleted while %s waits for it.", who, podName(v.Waiting()[0].Pod))
	}
	if d := claim.DeletionTimestamp; d != nil {
		if p.Age(d.Time) < lingers && (len(v.Live()) > 0 || len(claim.Finalizers) == 0) {
			return ""
		}
		return fmt.Sprintf("%s has been deleted and is still there after %s.", who, evidence.Duration(p.Age(d.Time)))
	}
	if v.PV != nil && v.PV.DeletionTimestamp != nil && p.Age(v.PV.DeletionTimestamp.Time) >= lingers {
		return fmt.Sprintf("PersistentVolume %s of %s has been deleted and is still there after %s.", v.PV.Name, name(v), evidence.Duration(p.Age(v.PV.DeletionTimestamp.Time)))
	}
	switch claim.Status.Phase {
	case corev1.ClaimLost:
		return who + " has lost its volume: phase Lost."
	case corev1.ClaimPending, "":
	default:
		return ""
	}
	age := p.Age(claim.CreationTimestamp.Time)
	abandoned := snapshot.ChosenNode(claim) != "" && len(v.Waiting()) == 0 // the pod for which a node was chosen is gone, and the provisioner is asked
	if snapshot.BindsLate(v.Class) && claim.Spec.VolumeName == "" && !wantedLong(p, v) && !failedToProvision(p, v) && !abandoned {
		return ""
	}
	if age < settle && !failedToProvision(p, v) {
		return ""
	}
	return fmt.Sprintf("%s is not bound since %s.", who, evidence.Duration(age))
}

// wantedLong tells whether a pod waits for the claim longer than starting takes.
func wantedLong(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return slices.ContainsFunc(v.Waiting(), func(c *snapshot.Consumer) bool { return p.Age(c.Pod.CreationTimestamp.Time) >= settle })
}

func failedToProvision(p *diagnosis.Pass, v *snapshot.Volume) bool {
	return slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool {
		return t.Fresh && (t.Reason == "ProvisioningFailed" || is(t, message.ProvisionFailed, message.ClassNotFound))
	})
}
