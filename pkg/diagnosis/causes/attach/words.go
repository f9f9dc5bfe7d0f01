package attach

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func compare(a, b string) int { return strings.Compare(a, b) }

// volumeName is how a person calls the volume.
func volumeName(v *snapshot.Volume) string {
	if n := v.PVName(); n != "" {
		return n
	}
	if ns, name := v.ClaimRef(); name != "" {
		return "of claim " + ns + "/" + name
	}
	return v.Spoken()
}

// podName is a pod as kubectl names it.
func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// ago says how long something has lasted: "9m", "3h".
func ago(p *diagnosis.Pass, t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return diagnosis.Duration(p.Age(t))
}

// podWhere says which node a pod is on and for how long it has existed.
func podWhere(p *diagnosis.Pass, pod *corev1.Pod) string {
	return fmt.Sprintf("pod %s on node %s (%s old)", podName(pod), pod.Spec.NodeName, ago(p, pod.CreationTimestamp.Time))
}

// podFact quotes the phase of a pod with its node.
func podFact(pod *corev1.Pod) (object, field, text string) {
	object = "Pod " + podName(pod)
	text = fmt.Sprintf("spec.nodeName %s, status.phase %s", pod.Spec.NodeName, pod.Status.Phase)
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil && w.Reason != "" {
			text += ", container " + c.Name + " waiting: " + w.Reason
			break
		}
	}
	if pod.DeletionTimestamp != nil {
		text += ", deletionTimestamp " + pod.DeletionTimestamp.UTC().Format(time.RFC3339)
	}
	return object, "", text
}
