package claims

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// pvcProtection keeps a claim while a pod names it (pkg/volume/util/finalizer.go).
const pvcProtection = "kubernetes.io/pvc-protection"

// Protected asks whether a claim is being deleted and its protection keeps it.
func Protected(c *corev1.PersistentVolumeClaim) evidence.Answer {
	if c.DeletionTimestamp == nil {
		return evidence.No()
	}
	return evidence.When(slices.Contains(c.Finalizers, pvcProtection),
		evidence.FromAPI(Object(c), "metadata.deletionTimestamp", c.DeletionTimestamp.UTC().Format(time.RFC3339)),
		evidence.FromAPI(Object(c), "metadata.finalizers", strings.Join(c.Finalizers, " ")))
}

// Left are the finished pods of a volume that nobody deletes. One that is being deleted and
// stays is held by its own finalizer, or by its node.
func Left(v *snapshot.Volume) []*snapshot.Consumer {
	return slices.DeleteFunc(slices.Clone(v.Finished()), (*snapshot.Consumer).Terminating)
}

// NamedByFinished asks whether pods that have finished name a claim, and says which.
func NamedByFinished(pl *evidence.Place) (names []string, a evidence.Answer) {
	var facts []report.Evidence
	for _, k := range Left(pl.Volume) {
		who := k.Pod.Name + " (" + string(k.Pod.Status.Phase)
		if o := pl.X.TopOwner(k.Pod); !o.Pod {
			who += ", " + o.Kind + " " + o.Name
		}
		names = append(names, who+")")
		facts = append(facts, evidence.FromPod(k.Pod, "status.phase", string(k.Pod.Status.Phase)))
	}
	return names, pl.Consumers().Found(facts...)
}

// NoOtherUser asks whether no other pod names a claim. One that was never placed is not
// counted by the protection (pvc_protection_controller.go), and leaves it open.
func NoOtherUser(pl *evidence.Place) evidence.Answer {
	out := []evidence.Answer{pl.Consumers().Nothing()}
	for _, k := range pl.Volume.Live() {
		if k.Node() != "" || !k.Waiting() {
			return evidence.No()
		}
		out = append(out, evidence.Unseen(evidence.Lack{Need: "that pod " + k.Pod.Namespace + "/" + k.Pod.Name + " does not keep the claim", Why: "it waits for the claim and has no node"}))
	}
	return evidence.All(out...)
}

// OnlyProtection asks whether no finalizer of another controller keeps a claim, too.
func OnlyProtection(c *corev1.PersistentVolumeClaim) evidence.Answer {
	for _, f := range c.Finalizers {
		if f != pvcProtection {
			return evidence.Unseen(evidence.Lack{Need: "that the finalizer " + f + " goes by itself", Why: "another controller's"})
		}
	}
	return evidence.Yes()
}

// AllExpire tells whether every finished pod belongs to a Job that is removed by itself
// a while after its end, and the time has not long run out.
func AllExpire(x *snapshot.Index, v *snapshot.Volume) bool {
	return !slices.ContainsFunc(Left(v), func(k *snapshot.Consumer) bool {
		return !slices.ContainsFunc(x.Cluster.Jobs, func(j *batchv1.Job) bool {
			return metav1.IsControlledBy(k.Pod, j) && j.Spec.TTLSecondsAfterFinished != nil && j.Status.CompletionTime != nil &&
				x.Age(j.Status.CompletionTime.Time) < time.Duration(*j.Spec.TTLSecondsAfterFinished)*time.Second+time.Minute
		})
	})
}
