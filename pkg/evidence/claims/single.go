package claims

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// SinglePod asks whether only one pod at a time may use a claim.
func SinglePod(c *corev1.PersistentVolumeClaim) evidence.Answer {
	return evidence.When(slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod), evidence.FromAPI(Object(c), "spec.accessModes", string(corev1.ReadWriteOncePod)))
}

// UserBeside is the pod that has a claim while w waits for it: another one that was placed
// on a node and has not finished. The scheduler counts pods by their node, the kubelet
// those that it mounted for; a pod without a node uses nothing yet. That pods of other
// namespaces were not read does not matter: they cannot name the claim.
func UserBeside(pl *evidence.Place, w *corev1.Pod) (*corev1.Pod, evidence.Answer) {
	if w.DeletionTimestamp != nil {
		return nil, evidence.No()
	}
	var found *corev1.Pod
	for _, c := range pl.Volume.Live() {
		h := c.Pod
		if h == w || h.Spec.NodeName == "" {
			continue
		}
		// Of two pods that were both placed and do not run, the words tell who came first, or the attachment does.
		if w.Spec.NodeName != "" && c.Waiting() && len(saidInUse(pl, w, true)) == 0 && len(attachedFor(pl, h, w)) == 0 {
			continue
		}
		if found == nil || found.Status.Phase != corev1.PodRunning && h.Status.Phase == corev1.PodRunning {
			found = h
		}
	}
	if found == nil {
		return nil, evidence.Not(pl.Consumers().Nothing())
	}
	facts := append(append(saidInUse(pl, w, false), attachedFor(pl, found, w)...), evidence.FromPod(found, "",
		fmt.Sprintf("phase %s on node %s, names the claim", found.Status.Phase, found.Spec.NodeName)))
	return found, evidence.Yes(facts...)
}

// attachedFor quotes the attachment of a volume to the node of one pod, when there is none to the other pod's: the
// controller attached it for the first.
func attachedFor(pl *evidence.Place, h, w *corev1.Pod) []report.Evidence {
	va := pl.Volume.AttachmentOn(h.Spec.NodeName)
	if va == nil || !va.Status.Attached || va.DeletionTimestamp != nil || pl.Volume.AttachmentOn(w.Spec.NodeName) != nil {
		return nil
	}
	return []report.Evidence{evidence.FromAPI("VolumeAttachment "+va.Name, "spec.nodeName", va.Spec.NodeName)}
}

// saidInUse quotes who says that a pod waits because another one has the claim.
func saidInUse(pl *evidence.Place, w *corev1.Pod, fresh bool) []report.Evidence {
	return pl.Texts.Say(func(t evidence.Text) bool {
		return t.Pod == w.Namespace+"/"+w.Name && t.Is(message.ClaimInUse) && (t.Fresh || !fresh)
	}).Facts()
}

// StillThere says why a pod exists: what it does, for how long, and whose it is.
func StillThere(x *snapshot.Index, h *corev1.Pod) string {
	owner := "it has no controller"
	if o := x.TopOwner(h); !o.Pod {
		owner = "it belongs to " + o.String()
	}
	if h.DeletionTimestamp == nil {
		return fmt.Sprintf("%s on node %s, made %s ago; %s", strings.ToLower(string(h.Status.Phase)), h.Spec.NodeName, ago(x, h.CreationTimestamp.Unix()), owner)
	}
	// deletionTimestamp lies the grace period after the request (metav1.ObjectMeta).
	at := h.DeletionTimestamp.Unix()
	if g := h.DeletionGracePeriodSeconds; g != nil {
		at -= *g
	}
	text := fmt.Sprintf("it is still Terminating on node %s, asked to end %s ago; %s", h.Spec.NodeName, ago(x, at), owner)
	if len(h.Finalizers) > 0 {
		text += "; its finalizers are " + strings.Join(h.Finalizers, ", ")
	}
	return text
}

func ago(x *snapshot.Index, at int64) string { return report.Duration(x.TakenAt.Unix() - at) }
