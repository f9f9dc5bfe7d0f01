package diagnosis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// PodTexts returns everything that was said about a pod, newest first, also of a
// pod without a persistent volume.
func (p *Pass) PodTexts(pod *corev1.Pod) []Text { return p.texts.ofPod(pod) }

func (t *texts) ofPod(pod *corev1.Pod) []Text {
	if pod == nil {
		return nil
	}
	if list, ok := t.byPod[pod]; ok {
		return list
	}
	var out []Text
	for _, e := range t.x.Events("Pod", pod.Namespace, pod.Name) {
		if e.ObjUID != "" && pod.UID != "" && e.ObjUID != string(pod.UID) || strings.TrimSpace(e.Message) == "" {
			continue
		}
		x := t.event(e, snapshot.PodAsksSince(pod, e.Reason).Add(-time.Second))
		x.Pod = pod.Namespace + "/" + pod.Name
		if x.Node == "" {
			x.Node = pod.Spec.NodeName
		}
		out = append(out, t.parse(x))
	}
	out = append(out, t.podStatus(pod)...)
	slices.SortStableFunc(out, newerText)
	out = slices.Clone(outspoken(slices.CompactFunc(out, twice))) // which stays as long as the report is made
	t.byPod[pod] = out
	return out
}

// goesWell tells an event that says that a step was made: whatever its words are, nobody complains in it.
// The kubelet calls it normal, too, that it backs off (pkg/kubelet/images, kuberuntime), and the controller of
// claims that one waits for its provisioner (pkg/controller/volume/persistentvolume).
func goesWell(e *snapshot.Event) bool {
	return e.Type == corev1.EventTypeNormal && e.Reason != "BackOff" && e.Reason != "ExternalProvisioning"
}

// ranOnce tells whether a container that ended was started at all: else it is the runtime that says why not.
func ranOnce(e *corev1.ContainerStateTerminated) bool {
	return e.Reason != "StartError" && e.Reason != "ContainerCannotRun"
}

// podStatus is present state: why a container waits or ended, and the conditions
// that are not true.
func (t *texts) podStatus(pod *corev1.Pod) []Text {
	var out []Text
	own := false // the text is a container's last word (terminationMessagePath), which it chose
	say := func(field, reason, text string, at time.Time, fresh bool) {
		if strings.TrimSpace(text) == "" {
			return
		}
		name := pod.Namespace + "/" + pod.Name
		x := t.parse(Text{
			Source: "api", Component: "kubelet", Locator: "Pod " + name + " " + field, Node: pod.Spec.NodeName,
			Reason: reason, Pod: name, At: at, Fresh: fresh, Raw: text, OwnWord: own,
		})
		x.Spec = cmp.Or(x.Spec, pods.VolumeImage(pod, x))
		out = append(out, x)
	}
	for _, cs := range snapshot.Statuses(pod) {
		own = false
		field := "status.containerStatuses[" + cs.Name + "]"
		if w := cs.State.Waiting; w != nil {
			say(field+".state.waiting", w.Reason, w.Message, t.x.TakenAt, true)
		}
		if e := cs.State.Terminated; e != nil {
			own = ranOnce(e)
			say(field+".state.terminated", e.Reason, e.Message, e.FinishedAt.Time, true)
		}
		if e := cs.LastTerminationState.Terminated; e != nil {
			own = ranOnce(e)
			say(field+".lastState.terminated", e.Reason, e.Message, e.FinishedAt.Time, t.x.Age(e.FinishedAt.Time) < freshText)
		}
	}
	own = false
	for _, k := range pod.Status.Conditions {
		if k.Status != corev1.ConditionTrue {
			say("status.conditions["+string(k.Type)+"]", k.Reason, k.Message, k.LastTransitionTime.Time, true)
		}
	}
	say("status.message", pod.Status.Reason, pod.Status.Message, t.x.TakenAt, true)
	return out
}
