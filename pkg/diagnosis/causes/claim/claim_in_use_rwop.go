package claim

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed claim_in_use_rwop.md
var claimInUseRWOPDoc string

// ClaimInUseRWOP finds a second pod for a claim that only one pod may use.
var ClaimInUseRWOP = &diagnosis.Rule{
	Name: "claim-in-use-rwop", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/persistentvolumeclaims")},
	Explains: []string{"pod-waiting-for-volume", "mount-failed"},
	Offers:   []string{"delete-pod"},
	Doc:      claimInUseRWOPDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Claim == nil || !slices.Contains(v.Claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
				continue
			}
			for _, w := range v.Waiting() {
				if h := user(p, v, w.Pod); h != nil {
					inUse(p, v, w.Pod, h)
					break
				}
			}
		}
	},
}

// user is the pod that has the claim while w waits for it: another one that was placed
// on a node and has not finished. The scheduler counts pods by their node, the kubelet
// those that it mounted for; a pod without a node uses nothing yet.
func user(p *diagnosis.Pass, v *snapshot.Volume, w *corev1.Pod) *corev1.Pod {
	if w.DeletionTimestamp != nil {
		return nil
	}
	var found *corev1.Pod
	for _, c := range v.Live() {
		h := c.Pod
		if h == w || h.Spec.NodeName == "" {
			continue
		}
		// Of two pods that were both placed and do not run, only the words tell who came first.
		if w.Spec.NodeName != "" && c.Waiting() && !refusedByKubelet(p, v, w) {
			continue
		}
		if found == nil || found.Status.Phase != corev1.PodRunning && h.Status.Phase == corev1.PodRunning {
			found = h
		}
	}
	return found
}

func refusedByKubelet(p *diagnosis.Pass, v *snapshot.Volume, w *corev1.Pod) bool {
	return slices.ContainsFunc(p.Texts(v), func(t diagnosis.Text) bool {
		return t.Fresh && t.Pod == w.Namespace+"/"+w.Name && t.Is(message.ClaimInUse)
	})
}

func inUse(p *diagnosis.Pass, v *snapshot.Volume, w, h *corev1.Pod) {
	c := v.Claim
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	f.Pod(w)
	f.Pod(h)
	f.Located(h.Spec.NodeName)
	f.Fact(
		diagnosis.FromAPI("PersistentVolumeClaim "+c.Namespace+"/"+c.Name, "spec.accessModes", "ReadWriteOncePod"),
		diagnosis.FromAPI("Pod "+h.Namespace+"/"+h.Name, "", fmt.Sprintf("phase %s on node %s, names the claim", h.Status.Phase, h.Spec.NodeName)),
	)
	for _, t := range p.Texts(v) {
		if t.Pod == w.Namespace+"/"+w.Name && t.Is(message.ClaimInUse) {
			f.Fact(t.Evidence())
			break
		}
	}
	f.Sayf("Only one pod at a time may use claim %s/%s (ReadWriteOncePod), and pod %s has it: %s. So pod %s waits.", c.Namespace, c.Name, h.Name, stillThere(p, h), w.Name)
	f.Unless("no other pod with this claim that has a node and has not finished")
	f.Advise(inUseAdvice(p, w, h)...)
	p.Report(f)
}

// stillThere says why a pod exists.
func stillThere(p *diagnosis.Pass, h *corev1.Pod) string {
	owner := "it has no controller"
	if o := p.TopOwner(h); !o.Pod {
		owner = "it belongs to " + o.String()
	}
	if h.DeletionTimestamp == nil {
		return fmt.Sprintf("%s on node %s, made %s ago; %s", strings.ToLower(string(h.Status.Phase)), h.Spec.NodeName, since(p, h.CreationTimestamp.Time), owner)
	}
	text := fmt.Sprintf("it is still Terminating on node %s, asked to end %s ago; %s", h.Spec.NodeName, since(p, deletedAt(h)), owner)
	if len(h.Finalizers) > 0 {
		text += "; its finalizers are " + strings.Join(h.Finalizers, ", ")
	}
	return text
}

// deletedAt is when somebody asked for the deletion: deletionTimestamp lies the grace
// period later (metav1.ObjectMeta).
func deletedAt(h *corev1.Pod) time.Time {
	at := h.DeletionTimestamp.Time
	if g := h.DeletionGracePeriodSeconds; g != nil {
		at = at.Add(-time.Duration(*g) * time.Second)
	}
	return at
}

func inUseAdvice(p *diagnosis.Pass, w, h *corev1.Pod) []remedy.Step {
	mode := remedy.Words("The access mode of a bound volume is not changed as a quick fix: when two pods must share the data, copy them to a volume with another mode.")
	if h.DeletionTimestamp != nil {
		return []remedy.Step{
			remedy.Words(fmt.Sprintf("Wait until pod %s has ended; then %s starts by itself. If it stays, look for what holds it on node %s (a container that does not stop, an unmount that fails, a finalizer).", h.Name, w.Name, h.Spec.NodeName)),
			mode,
		}
	}
	hOwner, wOwner := p.TopOwner(h), p.TopOwner(w)
	if hOwner.Pod || !wOwner.Pod && hOwner.String() == wOwner.String() {
		return []remedy.Step{
			remedy.Words("Let the workload end the old pod before it starts the new one: strategy Recreate, or a StatefulSet with one replica."),
			remedy.DeletePod(h).Note("It is the one that uses the claim, and what it does ends with it."),
			mode,
		}
	}
	return []remedy.Step{
		remedy.Words(fmt.Sprintf("Two workloads want the claim: %s and %s. Scale down the one that shall not have it now, or give it a claim of its own.", hOwner, wOwner)),
		remedy.DeletePod(h).Note("It is the one that uses the claim; %s makes it anew, and then it waits behind pod %s or takes the claim again.", hOwner, w.Name),
		mode,
	}
}
